import PresenceGateway
import SIPCore
import Testing

/// A small seeded generator (SplitMix64).
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[Int.random(in: 0..<elements.count, using: &self)] }
    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
}

/// A gateway in virtual time with actors around it, each with an address, numbers and chance of its own, so that what one of them
/// does never shifts what another one writes.
final class BlockedRig {
    let gateway: Gateway
    private(set) var now = Instant(secondsSince1970: 1_700_000_000)
    private var events: [(at: Instant, order: Int, act: () -> Void)] = []
    private var order = 0
    private var receivers: [TransportAddress: (SIPMessage) -> Void] = [:]

    init(_ change: (inout GatewayConfiguration) -> Void) {
        var configuration = Bench.configuration()
        change(&configuration)
        configuration.trust(Bench.oneNetwork)
        gateway = Gateway(configuration: configuration, key: .seeded(7))
    }

    func join(_ address: TransportAddress, _ receive: @escaping (SIPMessage) -> Void) { receivers[address] = receive }

    /// Does something so many milliseconds after the start; what was asked for first goes first.
    func at(_ milliseconds: Int, _ act: @escaping () -> Void) {
        after(Instant(secondsSince1970: 1_700_000_000) + .milliseconds(milliseconds) - now, act)
    }

    func after(_ span: TimeSpan, _ act: @escaping () -> Void) {
        order += 1
        let event = (at: now + span, order: order, act: act)
        let place = events.firstIndex { ($0.at, $0.order) > (event.at, event.order) } ?? events.endIndex
        events.insert(event, at: place)
    }

    func send(_ text: String, from address: TransportAddress, connection: ConnectionID? = nil) {
        let local = address.transport == .udp ? Bench.local : Bench.localTCP
        gateway.receive(InboundMessage(bytes: Array(text.utf8), local: local, remote: address, connection: connection), at: now)
        deliver()
    }

    func close(_ connection: ConnectionID) {
        gateway.receive(.closed(connection), at: now)
        deliver()
    }

    func run(milliseconds: Int) {
        let end = Instant(secondsSince1970: 1_700_000_000) + .milliseconds(milliseconds)
        while true {
            let due = gateway.nextDeadline ?? end
            if let event = events.first, event.at <= due, event.at <= end {
                now = max(now, event.at)
                events.removeFirst()
                event.act()
            } else if due < end {
                now = max(now, due)
                gateway.advance(to: now)
                deliver()
            } else {
                break
            }
        }
        now = end
    }

    private func deliver() {
        for outbound in gateway.takeOutput() {
            guard case .success(let message) = SIPParser.parse(outbound.bytes) else {
                Issue.record("the gateway wrote a message that cannot be read")
                continue
            }
            switch outbound.destination {
            case .address(let address, _): receivers[address]?(message)
            case .connection(_, let fallback): fallback.map { receivers[$0]?(message) }
            }
        }
    }
}

/// A watcher that subscribes, refreshes, polls, leaves and comes back by a script of its own, and writes down every octet it gets
/// but those that are random by nature: tags, branches, boundaries.
final class RecordingWatcher {
    enum Form: CaseIterable {
        case single, singleInNotify, batch, batchInNotify, msrtc, msrtcInNotify, pidf, xpidf

        var isCategories: Bool { [.single, .singleInNotify, .batch, .batchInNotify].contains(self) }
        var isBatch: Bool { self == .batch || self == .batchInNotify }
        var accept: String {
            switch self {
            case .msrtc, .msrtcInNotify: "text/xml+msrtc.pidf"
            case .pidf: "application/pidf+xml"
            case .xpidf: "application/xpidf+xml"
            default: Bench.categoryTypes
            }
        }
        var piggybacks: Bool { [.single, .batch, .msrtc].contains(self) }
    }

    static let presentity = "rob@fabrikam.com"
    let user: String
    let form: Form
    let address: TransportAddress
    private let connection: ConnectionID?
    private unowned let rig: BlockedRig
    private var random: SplitMix
    private var serial = 0
    private var cSeq = 1
    /// To and Contact of the live dialog.
    private var dialog: (callID: String, to: String, contact: String)?
    private(set) var transcript: [String] = []
    private(set) var notifications = 0

    init(_ user: String, _ form: Form, number: Int, isStream: Bool, seed: UInt64, rig: BlockedRig) {
        self.user = user
        self.form = form
        self.rig = rig
        address = TransportAddress(isStream ? .tcp : .udp, "192.0.2.\(100 + number)", 5060)
        connection = isStream ? ConnectionID(rawValue: UInt64(100 + number)) : nil
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

    private var body: String {
        guard form.isCategories else { return "" }
        let names = ["state", "note", "services", "calendarData"]
        let resources = form.isBatch ? [Self.presentity, "silent@fabrikam.com"] : [Self.presentity]
        return Bench.batchBody([Bench.Action(resources: resources, categories: names)])
    }

    private var extra: String {
        (form.isBatch ? "Require: adhoclist, categoryList\r\n" : "")
            + "Supported: eventlist, ms-benotify\(form.piggybacks ? ", ms-piggyback-first-notify" : "")\r\n"
    }

    private func subscribe(expires: Int) {
        serial += 1
        if expires > 0 {
            dialog = nil
            cSeq = 1
        }
        let to = form.isBatch ? user : Self.presentity
        send("sip:\(to)", "<sip:\(to)>", "w\(serial)-\(user)", cSeq: 1, expires: expires, body: body)
    }

    private func again(expires: Int, hasBody: Bool) {
        guard let dialog else { return }
        cSeq += 1
        serial += 1
        send(dialog.contact, dialog.to, dialog.callID, cSeq: cSeq, expires: expires, body: hasBody ? body : "")
        if expires == 0 { self.dialog = nil }
    }

    private func send(_ uri: String, _ to: String, _ callID: String, cSeq: Int, expires: Int, body: String) {
        rig.send(
            "SUBSCRIBE \(uri) SIP/2.0\r\nVia: SIP/2.0/\(address.transport.rawValue.uppercased()) \(address.host):5060"
                + ";branch=z9hG4bK\(serial)\(address.host)\r\nMax-Forwards: 70\r\nFrom: <sip:\(user)>;tag=w\r\nTo: \(to)\r\n"
                + "Call-ID: \(callID)\r\nCSeq: \(cSeq) SUBSCRIBE\r\nContact: <sip:\(address.host):5060>\r\nEvent: presence\r\n"
                + "Accept: \(form.accept)\r\nExpires: \(expires)\r\n" + extra
                + (body.isEmpty ? "" : "Content-Type: application/msrtc-adrl-categorylist+xml\r\n")
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)", from: address, connection: connection)
    }

    private func receive(_ message: SIPMessage) {
        write(message)
        switch message {
        case .response(let response):
            guard response.status == .ok, response.headers.expires ?? 0 > 0, let contact = response.headers.contact else { return }
            dialog = (response.headers.callID ?? "", response.headers.first(.to) ?? "", contact.uri.description)
        case .request(let request):
            notifications += 1
            guard request.method == .notify else { return }
            let answer = String(
                decoding: SIPSerializer.serialize(.response(SIPResponse(to: request, status: .ok))), as: UTF8.self)
            // At once, or while more may happen.
            let delay = random.pick([1, 1, 700, 9_000])
            rig.after(.milliseconds(delay)) { [unowned self] in rig.send(answer, from: address, connection: connection) }
        }
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
        let text = String(decoding: Self.without(secrets, SIPSerializer.serialize(message)), as: UTF8.self)
        transcript.append("\((rig.now - Instant(secondsSince1970: 1_700_000_000)).nanoseconds / 1_000_000) ms\n\(text)")
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
