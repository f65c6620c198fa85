import PresenceGateway
import SIPCore
import Testing

/// One endpoint of a user of a hosted enterprise domain, on a TCP connection of its own, that speaks raw SIP to a `Bench`.
final class SignedInEndpoint {
    let bench: Bench
    let user: String
    let epid: String
    let place: TransportAddress
    var connection: ConnectionID
    private var cSeq = 0

    init(_ bench: Bench, _ user: String, epid: String = "84d3db8c23", connection: UInt64) {
        self.bench = bench
        self.user = user
        self.epid = epid
        place = TransportAddress(.tcp, "192.0.2.40", 40_000 + Int(connection))
        self.connection = ConnectionID(rawValue: connection)
    }

    static let categories =
        "Supported: gruu-10, adhoclist, msrtc-event-categories, com.microsoft.msrtc.presence\r\nEvent: registration\r\n"
        + "ms-keep-alive: UAC;hop-hop=yes\r\n"

    func send(
        _ method: String, _ target: String, to: String? = nil, from: String? = nil, epid: String? = nil, contact: String? = nil,
        extra: String = "", type: String = "", body: String = "", toTag: String? = nil, callID: String? = nil, fromTag: String? = nil
    ) {
        cSeq += 1
        let id = bench.number()
        let epid = epid ?? self.epid
        var lines = [
            "\(method) \(target) SIP/2.0",
            "Via: SIP/2.0/TCP \(place.host):\(place.port);branch=z9hG4bKh\(id)",
            "Max-Forwards: 70",
            "From: <sip:\(from ?? user)>;tag=\(fromTag ?? "h\(id)")" + (epid.isEmpty ? "" : ";epid=\(epid)"),
            "To: <sip:\(to ?? user)>" + (toTag.map { ";tag=\($0)" } ?? ""),
            "Call-ID: \(callID ?? "h\(id)")",
            "CSeq: \(cSeq) \(method)",
            "Contact: \(contact ?? "<sip:\(place.host):\(place.port);transport=tcp>")",
        ]
        if !extra.isEmpty { lines.append(String(extra.dropLast(extra.hasSuffix("\r\n") ? 1 : 0))) }
        if !type.isEmpty { lines.append("Content-Type: \(type)") }
        lines.append("Content-Length: \(body.utf8.count)")
        bench.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body, from: place, connection: connection)
    }

    func register(
        expires: Int? = nil, extra: String = categories, contact: String? = nil, epid: String? = nil, to: String? = nil,
        callID: String? = nil
    ) {
        let domain = user.split(separator: "@").last.map(String.init) ?? ""
        send(
            "REGISTER", "sip:\(domain)", to: to, epid: epid, contact: contact,
            extra: extra + (expires.map { "Expires: \($0)\r\n" } ?? ""), callID: callID ?? "register-\(self.epid)")
    }

    static let home =
        "Supported: com.microsoft.autoextend\r\nSupported: ms-benotify\r\nProxy-Require: ms-benotify\r\n"
        + "Supported: ms-piggyback-first-notify\r\n"

    /// A SUBSCRIBE to the endpoint's own user, outside a dialog or in the one that a 200 made.
    func subscribe(
        _ event: String, expires: Int? = nil, extra: String = home, type: String? = nil, body: String = "", in dialog: SIPResponse? = nil,
        to: String? = nil, gruu: String? = nil
    ) {
        let media = type ?? (body.isEmpty ? "" : "application/\(event)+xml")
        let headers = "Event: \(event)\r\n" + extra + (expires.map { "Expires: \($0)\r\n" } ?? "")
        send(
            "SUBSCRIBE", dialog?.headers.contact?.uri.description ?? "sip:\(to ?? user)", to: to, contact: gruu, extra: headers,
            type: media,
            body: body, toTag: dialog?.headers.toTag, callID: dialog?.headers.callID, fromTag: dialog?.headers.fromTag)
    }

    func subscribeSelf(
        _ scopes: [String], expires: Int? = nil, extra: String = home, in dialog: SIPResponse? = nil, to: String? = nil, gruu: String? = nil
    ) {
        subscribe(
            "vnd-microsoft-roaming-self", expires: expires, extra: extra, body: Self.roamingList(scopes), in: dialog, to: to, gruu: gruu)
    }

    static func roamingList(_ scopes: [String]) -> String {
        let elements = scopes.map {
            $0 == "delegates"
                ? "<roamingEx xmlns=\"http://schemas.microsoft.com/2007/09/sip/roaming-self-ex\" type=\"delegates\"/>"
                : "<roaming type=\"\($0)\"/>"
        }
        return "<roamingList xmlns=\"http://schemas.microsoft.com/2006/09/sip/roaming-self\">\(elements.joined())</roamingList>"
    }

    /// A single category SUBSCRIBE to another user.
    func watch(_ presentity: String, extra: String = "") {
        subscribe(
            "presence", extra: "Accept: application/msrtc-event-categories+xml\r\n" + extra,
            type: "application/msrtc-adrl-categorylist+xml", body: Bench.batchBody([.subscribe(presentity, to: ["note"])]), to: presentity)
    }

    /// The same, accepted and with every NOTIFY answered.
    func startWatching(_ presentity: String, extra: String = "") throws {
        watch(presentity, extra: extra)
        _ = try response(200)
        try answerNotifies()
    }

    func answerNotifies() throws {
        while !isQuiet { bench.answer(try request(.notify), 200, from: place) }
    }

    func setMembers(_ containers: String) {
        send(
            "SERVICE", "sip:\(user)", type: "application/msrtc-setcontainermembers+xml",
            body:
                "<setContainerMembers xmlns=\"http://schemas.microsoft.com/2006/09/sip/container-management\">\(containers)</setContainerMembers>"
        )
    }

    func publish(_ publications: String) {
        send(
            "SERVICE", "sip:\(user)", type: "application/msrtc-category-publish+xml",
            body: "<publish xmlns=\"http://schemas.microsoft.com/2006/09/sip/rich-presence\"><publications uri=\"sip:\(user)\">"
                + "\(publications)</publications></publish>")
    }

    static func note(_ text: String, expire: String, version: Int = 0, instance: Int = 0, container: Int = 0) -> String {
        "<publication categoryName=\"note\" instance=\"\(instance)\" container=\"\(container)\" version=\"\(version)\" "
            + "expireType=\"\(expire)\"><note xmlns=\"http://schemas.microsoft.com/2006/09/sip/note\"><body>\(text)</body></note></publication>"
    }

    func closeConnection() { bench.gateway.receive(.closed(connection), at: bench.now); bench.sort() }

    func response(_ status: Int, _ location: SourceLocation = #_sourceLocation) throws -> SIPResponse {
        try bench.nextResponse(status, at: place, location)
    }

    func request(_ method: SIPMethod, _ location: SourceLocation = #_sourceLocation) throws -> SIPRequest {
        try bench.nextRequest(method, at: place, location)
    }

    var isQuiet: Bool { bench.isQuiet(at: place) }
}
