import PresenceGateway
import SIPCore
import Testing

/// A watcher that subscribes, refreshes, polls, leaves and comes back by a script of its own, and writes down every octet it gets
/// but those that are random by nature: tags, branches, boundaries.
final class RecordingWatcher {
    enum Form: CaseIterable {
        case single, singleInNotify, batch, batchInNotify, msrtc, msrtcInNotify, pidf, partial, xpidf, list, partialList

        static let simple: [Form] = [.pidf, .partial, .xpidf, .list, .partialList]

        var isCategories: Bool { [.single, .singleInNotify, .batch, .batchInNotify].contains(self) }
        var isBatch: Bool { self == .batch || self == .batchInNotify }
        var isList: Bool { self == .list || self == .partialList }
        var accept: String {
            switch self {
            case .msrtc, .msrtcInNotify: "text/xml+msrtc.pidf"
            case .pidf: "application/pidf+xml"
            case .partial: "application/pidf-diff+xml, application/pidf+xml"
            case .list: "application/pidf+xml, application/rlmi+xml, multipart/related"
            case .partialList: "application/pidf-diff+xml, application/pidf+xml, application/rlmi+xml, multipart/related"
            case .xpidf: "application/xpidf+xml"
            default: Bench.categoryTypes
            }
        }
        var piggybacks: Bool { [.single, .batch, .msrtc].contains(self) }
    }

    static let presentity = "rob@fabrikam.com"
    static let other = "silent@fabrikam.com"
    /// Where watchers of lists send them.
    static let lists = "lists@example.org"
    let user: String
    /// The presentity that is watched, and one beside it in batches and lists.
    private let presentities: [String]
    let form: Form
    let address: TransportAddress
    private let connection: ConnectionID?
    private unowned let rig: BlockedRig
    private let seed: UInt64
    private var random: SplitMix
    /// By Call-ID.
    private var delays: [String: SplitMix] = [:]
    private var serial = 0
    private var cSeq = 1
    /// To and Contact of the live dialog.
    private var dialog: (callID: String, to: String, contact: String)?
    /// Entity-tag of the last notification.
    private var entityTag: String?
    /// A message that came, with the nanoseconds since the start.
    struct Entry {
        var at: Int64
        var callID: String
        var text: String
    }

    private(set) var transcript: [Entry] = []
    /// Falsifies the record of one message, for the test of the comparison.
    var falsifies: (number: Int, isOctet: Bool)?

    init(
        _ user: String, _ form: Form, watching presentities: [String] = [presentity, other], number: Int, isStream: Bool, seed: UInt64,
        rig: BlockedRig
    ) {
        self.user = user
        self.presentities = presentities
        self.form = form
        self.rig = rig
        address = TransportAddress(isStream ? .tcp : .udp, "192.0.2.\(100 + number)", 5060)
        connection = isStream ? ConnectionID(rawValue: UInt64(100 + number)) : nil
        self.seed = seed
        random = SplitMix(state: seed)
        rig.join(address) { [self] in receive($0) }
    }

    /// Plans everything for so many milliseconds; moments end in 5, so that they never meet those of others.
    func plan(milliseconds: Int) {
        var moment = random.number(0...40) * 100 + 5
        rig.at(moment) { [unowned self] in subscribe(expires: random.pick([3_600, 90])) }
        while true {
            moment += random.number(20...600) * 100
            guard moment < milliseconds else { return }
            let choice = random.number(0...5)
            rig.at(moment) { [unowned self] in
                switch choice {
                case 0, 1: dialog == nil ? subscribe(expires: 3_600) : again(expires: 3_600, hasBody: choice == 0)
                case 2: subscribe(expires: 0)
                case 3: dialog == nil ? subscribe(expires: 120) : again(expires: 0, hasBody: false)
                default: subscribe(expires: 600)
                }
            }
        }
    }

    private static let categories = ["state", "note", "services", "calendarData", "contactCard", "routing", "userProperties"]

    private var body: String {
        let resources = form.isBatch || form.isList ? presentities : [presentities[0]]
        if form.isList {
            return "<resource-lists xmlns=\"urn:ietf:params:xml:ns:resource-lists\"><list>"
                + resources.map { "<entry uri=\"sip:\($0)\"/>" }.joined() + "</list></resource-lists>"
        }
        if isFiltered { return Self.filters }
        guard form.isCategories else { return "" }
        return Bench.batchBody([Bench.Action(resources: resources, categories: Self.categories)])
    }

    /// Some watchers of PIDF filter it (RFC 4660), by content or by trigger.
    private var isFiltered: Bool { (form == .pidf || form == .partial) && seed % 3 == 0 }

    private static let filters =
        "<filter-set xmlns='urn:ietf:params:xml:ns:simple-filter'><ns-bindings><ns-binding prefix='p' urn='urn:ietf:params:xml:ns:pidf'/>"
        + "</ns-bindings><filter id='f'><what><include>/p:presence/p:tuple/p:status</include></what>"
        + "<trigger><changed>/p:presence/p:tuple/p:status/p:basic</changed></trigger><trigger><added>/p:presence/p:tuple</added></trigger>"
        + "</filter></filter-set>"

    private var bodyType: String {
        isFiltered
            ? "application/simple-filter+xml" : form.isList ? "application/resource-lists+xml" : "application/msrtc-adrl-categorylist+xml"
    }

    private var extra: String {
        if form.isList { return "Supported: eventlist\r\nRequire: recipient-list-subscribe\r\n" }
        guard !Form.simple.contains(form) else { return "" }
        return (form.isBatch ? "Require: adhoclist, categoryList\r\n" : "")
            + "Supported: eventlist, ms-benotify\(form.piggybacks ? ", ms-piggyback-first-notify" : "")\r\n"
    }

    /// Some watchers ask for rates of notifications (RFC 6446).
    private var rates: String { ["", "", ";max-rate=0.05", ";max-rate=0.2;min-rate=0.1", ";adaptive-min-rate=0.05"][Int(seed % 5)] }

    /// Some watchers leave out what they have (RFC 5839), or everything.
    private var condition: String {
        guard seed % 7 < 4 else { return "" }
        if serial % 6 == 5 { return "Suppress-If-Match: *\r\n" }
        return entityTag.map { "Suppress-If-Match: \($0)\r\n" } ?? ""
    }

    private func subscribe(expires: Int) {
        serial += 1
        if expires > 0 {
            dialog = nil
            cSeq = 1
        }
        let to = form.isBatch ? user : form.isList ? Self.lists : presentities[0]
        send("sip:\(to)", "<sip:\(to)>", "w\(serial)-\(user)", cSeq: 1, expires: expires, body: body)
    }

    private func again(expires: Int, hasBody: Bool) {
        guard let dialog else { return }
        cSeq += 1
        serial += 1
        send(
            dialog.contact, dialog.to, dialog.callID, cSeq: cSeq, expires: expires, body: hasBody || form.isList && expires > 0 ? body : "")
        if expires == 0 { self.dialog = nil }
    }

    private func send(_ uri: String, _ to: String, _ callID: String, cSeq: Int, expires: Int, body: String) {
        rig.send(
            "SUBSCRIBE \(uri) SIP/2.0\r\nVia: SIP/2.0/\(address.transport.rawValue.uppercased()) \(address.host):5060"
                + ";branch=z9hG4bK\(serial)\(address.host)\r\nMax-Forwards: 70\r\nFrom: <sip:\(user)>;tag=w\r\nTo: \(to)\r\n"
                + "Call-ID: \(callID)\r\nCSeq: \(cSeq) SUBSCRIBE\r\nContact: <sip:\(address.host):5060>\r\nEvent: presence\(rates)\r\n"
                + "Accept: \(form.accept)\r\nExpires: \(expires)\r\n" + extra + condition
                + (body.isEmpty ? "" : "Content-Type: \(bodyType)\r\n")
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)", from: address, connection: connection)
    }

    private func receive(_ message: SIPMessage) {
        write(message)
        switch message {
        case .response(let response):
            guard response.status.isSuccess, response.headers.expires ?? 0 > 0, let contact = response.headers.contact else { return }
            dialog = (response.headers.callID ?? "", response.headers.first(.to) ?? "", contact.uri.description)
        case .request(let request):
            guard request.method == .notify else { return }
            entityTag = request.headers.sipETag ?? entityTag
            let answer = String(
                decoding: SIPSerializer.serialize(.response(SIPResponse(to: request, status: .ok))), as: UTF8.self)
            // At once, or while more may happen.
            let delay = delays[request.headers.callID ?? "", default: delays(of: request)].pick([1, 1, 700, 9_000])
            rig.after(.milliseconds(delay)) { [unowned self] in rig.send(answer, from: address, connection: connection) }
        }
    }

    /// What a dialog's answers depend on is its own: retransmissions in two dialogs at one moment leave in the order of random tokens.
    private func delays(of request: SIPRequest) -> SplitMix {
        SplitMix(state: (request.headers.callID ?? "").utf8.reduce(seed) { $0 &* 31 &+ UInt64($1) })
    }

    private func write(_ message: SIPMessage) {
        let headers: SIPHeaders
        switch message {
        case .request(let request): headers = request.headers
        case .response(let response): headers = response.headers
        }
        let branch = headers.first(.via).flatMap { $0.split(separator: "branch=").last.map(String.init) }
        let secrets = [headers.fromTag, headers.toTag, headers.contentType?.parameters["boundary"], branch]
            .compactMap { $0.map { Array($0.utf8) } }.filter { $0.count > 2 }
        var bytes = Self.without(secrets, SIPSerializer.serialize(message))
        var moment = (rig.now - BlockedRig.start).nanoseconds
        if let falsifies, falsifies.number == transcript.count {
            if falsifies.isOctet { bytes[bytes.count / 2] ^= 1 } else { moment += 1_000_000 }
        }
        transcript.append(Entry(at: moment, callID: headers.callID ?? "", text: String(decoding: bytes, as: UTF8.self)))
    }

    /// The octets with an asterisk in place of each secret.
    private static func without(_ secrets: [[UInt8]], _ bytes: [UInt8]) -> [UInt8] {
        var firsts: Set<UInt8> = []
        for secret in secrets { firsts.insert(secret[0]) }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if firsts.contains(bytes[index]), let secret = secrets.first(where: { bytes[index...].starts(with: $0) }) {
                result.append(UInt8(ascii: "*"))
                index += secret.count
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result
    }
}
