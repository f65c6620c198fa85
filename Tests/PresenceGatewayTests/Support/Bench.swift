import FederationRouting
import PresenceGateway
import PresenceMapping
import PresenceRules
import SIPCore
import SIPSecurity
import UserDirectory
import Testing

/// A gateway between two fake peers that speak raw SIP, under a clock that the test moves.
final class Bench {
    static let enterprise = TransportAddress(.udp, "192.0.2.10", 5060)
    static let simple = TransportAddress(.udp, "192.0.2.20", 5060)
    static let local = TransportAddress(.udp, "192.0.2.1", 5060)
    static let localTCP = TransportAddress(.tcp, "192.0.2.1", 5060)

    /// One fake peer speaks for users of many domains.
    static let oneNetwork = DomainTrust(peers: "192.0.2.0/24")

    /// The shards of the node; most tests have one.
    private(set) var gateways: [Gateway] = []
    private var router: ShardRouter
    private var configuration: GatewayConfiguration
    private let store: (any GatewayStore)?
    /// Whether the test carries out the requests to the store, by ``takeStoreRequests()`` and ``receive(_:)``.
    private let defersCommits: Bool
    /// Prepares each new gateway before its first message.
    private var preparation: (Gateway) -> Void = { _ in }
    private var restarts: UInt64 = 0
    private(set) var now = Instant(secondsSince1970: 1_700_000_000)
    private var inboxes: [TransportAddress: [SIPMessage]] = [:]
    private var seen: [TransportAddress: Set<[UInt8]>] = [:]
    private var serial = 0
    /// The connections of requests of the gateway, by branch.
    private var carriers: [String: ConnectionID] = [:]
    private var isTickOpen = false

    static func configuration() -> GatewayConfiguration {
        var configuration = GatewayConfiguration(
            nodeName: "edge1.example.net", listeners: [local, localTCP],
            domains: [
                "contoso.com": DomainConfiguration(side: .enterprise, route: enterprise, network: .federated),
                "example.org": DomainConfiguration(side: .simple, route: simple, network: .federated),
                "fabrikam.com": DomainConfiguration(side: .enterprise, hosted: true, network: .sameEnterprise),
                "example.com": DomainConfiguration(side: .simple, hosted: true, unruled: .allow),
                "example.net": .refused(403),
            ])
        configuration.timing.staleAfter = .seconds(100)
        configuration.trust(Self.oneNetwork)
        return configuration
    }

    /// The only shard, or the first one.
    var gateway: Gateway { gateways[0] }

    init(
        shards: Int = 1, store: (any GatewayStore)? = nil, defersCommits: Bool = false, authenticator: Authenticator? = nil,
        directory: DirectoryState = .none, _ change: (inout GatewayConfiguration) -> Void = { _ in }
    ) {
        var configuration = Self.configuration()
        change(&configuration)
        configuration.trust(Self.oneNetwork)
        self.configuration = configuration
        self.store = store
        self.defersCommits = defersCommits
        router = ShardRouter(shards: shards, for: configuration)
        gateways = (0..<shards).map {
            Gateway(
                configuration: configuration, shard: $0, shards: shards, key: .seeded(42 + UInt64($0) << 32), store: store,
                defersCommits: defersCommits, authenticator: authenticator, directory: directory)
        }
    }

    /// The shard of a user.
    func shard(of user: String) -> Int { router.shard(ofKey: "sip:" + user) }

    /// Prepares the gateway, and each one after a restart, before its first message.
    func prepare(_ work: @escaping (Gateway) -> Void) {
        preparation = work
        gateways.forEach(work)
    }

    /// Prepares each gateway after a restart, before its first message.
    func prepareNext(_ work: @escaping (Gateway) -> Void) { preparation = work }

    /// The gateway is gone from one moment to the next; later another one starts on what the store has.
    @discardableResult
    func restart(
        after away: TimeSpan = .seconds(1), shards: Int? = nil, _ change: (inout GatewayConfiguration) -> Void = { _ in }
    ) throws -> RestoredState {
        now = now + away
        change(&configuration)
        restarts += 1
        let directory = gateway.directoryState
        let count = shards ?? gateways.count
        gateways = (0..<count).map {
            Gateway(
                configuration: configuration, shard: $0, shards: count, key: .seeded(42 + restarts + UInt64($0) << 32), store: store,
                defersCommits: defersCommits, directory: directory)
        }
        gateways.forEach(preparation)
        router = ShardRouter(shards: count, for: configuration)
        if let store { router.adopt(try store.load(at: now)) }
        // What another process writes is no copy, even if it is the same.
        seen = [:]
        defer { sort() }
        return try gateways.reduce(into: RestoredState()) { $0 = $0 + (try $1.restore(at: now)) }
    }

    /// Passes the time after which the store has what watchers were last notified of (docs/decisions/write-behind.md).
    func settle() { pass(.seconds(45)) }

    /// The requests of the gateway to the store since the last call.
    func takeStoreRequests() -> [StoreRequest] { gateway.takeStoreRequests() }

    /// Gives the gateway the result of a request to the store.
    func receive(_ result: StoreResult) {
        gateway.receive(result, at: now)
        sort()
    }

    func use(_ mapper: PresenceMapper) {
        for gateway in gateways { gateway.use(mapper: mapper, at: now) }
        sort()
    }

    func reconfigure(
        _ mapper: PresenceMapper? = nil, documents: [(user: String, documents: UserDocuments?)] = [],
        _ change: (inout GatewayConfiguration) -> Void
    ) {
        var changed = gateway.configuration
        change(&changed)
        for gateway in gateways { gateway.reconfigure(changed, mapper: mapper, documents: documents, at: now) }
        sort()
    }

    // MARK: time

    /// Moves the clock, firing every timer at its own moment.
    func pass(_ span: TimeSpan) {
        let end = now + span
        var turns = 0
        while let due = gateways.compactMap(\.nextDeadline).min(), due <= end {
            if due <= now { turns += 1 } else { turns = 0 }
            guard turns <= 100_000 else {
                Issue.record("time stands still")
                return
            }
            now = max(now, due)
            for gateway in gateways where gateway.nextDeadline.map({ $0 <= now }) == true { gateway.advance(to: now) }
            sort()
        }
        now = end
    }

    /// Moves the clock past timers that fire late.
    func sleep(_ span: TimeSpan) { now = now + span }

    // MARK: messages

    func send(_ text: String, from peer: TransportAddress, connection: ConnectionID? = nil, proving identity: PeerIdentity? = nil) {
        send(octets: Array(text.utf8), from: peer, connection: connection, proving: identity)
    }

    func send(octets: [UInt8], from peer: TransportAddress, connection: ConnectionID? = nil, proving identity: PeerIdentity? = nil) {
        let local = peer.transport == .udp ? Self.local : Self.localTCP
        var message = InboundMessage(bytes: octets, local: local, remote: peer, connection: connection, peer: identity)
        let shard = router.shard(of: &message)
        gateways[shard].receive(message, at: now)
        sort()
    }

    func send(_ message: SIPMessage, from peer: TransportAddress, connection: ConnectionID? = nil) {
        var connection = connection
        if case .response(let response) = message { connection = connection ?? response.headers.topVia?.branch.flatMap { carriers[$0] } }
        send(String(decoding: SIPSerializer.serialize(message), as: UTF8.self), from: peer, connection: connection)
    }

    /// Notes the connection of a request, over which its answer comes back, and says by which it went.
    private func carry(_ message: SIPMessage, _ token: UInt64, by connection: ConnectionID, for gateway: Gateway) {
        guard case .request(let request) = message, let branch = request.headers.topVia?.branch else { return }
        carriers[branch] = connection
        gateway.receive(.carried(token: token, by: .connection(connection)), at: now)
    }

    /// The one connection that a gateway has opened to an address.
    private static func connection(to peer: TransportAddress) -> ConnectionID {
        ConnectionID(rawValue: peer.description.utf8.reduce(1 << 32) { $0 &* 31 &+ UInt64($1) })
    }

    /// Everything that `work` sends arrives in one tick of the event loop: the gateway is asked for its output once, afterwards.
    func inOneTick(_ work: () -> Void) {
        isTickOpen = true
        work()
        isTickOpen = false
        sort()
    }

    /// Sorts what the gateway has to send into the peers' inboxes.
    func sort() {
        if isTickOpen { return }
        repeat {
            for gateway in gateways { sort(gateway.takeOutput(), of: gateway) }
        } while exchange()
    }

    /// Carries the envelopes between the shards.
    /// - Returns: whether there were any.
    private func exchange() -> Bool {
        let envelopes = gateways.flatMap { $0.takeEnvelopes() }
        for envelope in envelopes { gateways[envelope.target].receive(envelope, at: now) }
        return !envelopes.isEmpty
    }

    private func sort(_ output: [OutboundMessage], of gateway: Gateway) {
        for outbound in output {
            guard case .success(let message) = SIPParser.parse(outbound.bytes) else {
                Issue.record("the gateway wrote a message that cannot be read: \(String(decoding: outbound.bytes, as: UTF8.self))")
                continue
            }
            let place: TransportAddress
            switch outbound.destination {
            case .address(let address, _):
                place = address
                if address.transport.isReliable { carry(message, outbound.token, by: Self.connection(to: address), for: gateway) }
            case .connection(let connection, let fallback):
                place = fallback ?? TransportAddress(.tcp, "connection", 0)
                carry(message, outbound.token, by: connection, for: gateway)
            }
            // A copy that a retransmission timer sent tells a test nothing.
            guard seen[place, default: []].insert(outbound.bytes).inserted else { continue }
            inboxes[place, default: []].append(message)
        }
    }

    /// The next message to a peer, or a failed expectation.
    func next(at peer: TransportAddress, _ location: SourceLocation = #_sourceLocation) throws -> SIPMessage {
        try #require(inboxes[peer]?.isEmpty == false, "nothing arrived", sourceLocation: location)
        return inboxes[peer, default: []].removeFirst()
    }

    func nextRequest(_ method: SIPMethod, at peer: TransportAddress, _ location: SourceLocation = #_sourceLocation) throws -> SIPRequest {
        let message = try next(at: peer, location)
        guard case .request(let request) = message, request.method == method else {
            Issue.record(
                "expected \(method), got \(String(decoding: SIPSerializer.serialize(message), as: UTF8.self))", sourceLocation: location)
            throw Unexpected()
        }
        return request
    }

    func nextResponse(_ status: Int, at peer: TransportAddress, _ location: SourceLocation = #_sourceLocation) throws -> SIPResponse {
        let message = try next(at: peer, location)
        guard case .response(let response) = message, response.status.rawValue == status else {
            Issue.record(
                "expected \(status), got \(String(decoding: SIPSerializer.serialize(message), as: UTF8.self))", sourceLocation: location)
            throw Unexpected()
        }
        return response
    }

    func isQuiet(at peer: TransportAddress) -> Bool { inboxes[peer]?.isEmpty ?? true }
    func clear() { inboxes = [:] }
    func drop(at peer: TransportAddress, where isUnwanted: (SIPMessage) -> Bool) { inboxes[peer]?.removeAll(where: isUnwanted) }

    struct Unexpected: Error {}

    /// A number that no other message of this test has.
    func number() -> Int {
        serial += 1
        return serial
    }

    // MARK: the peers' words

    static let categoryBody = """
        <batchSub xmlns="http://schemas.microsoft.com/2006/01/sip/batch-subscribe" uri="sip:ulla@contoso.com" name="">\
        <action name="subscribe" id="1"><adhocList><resource uri="sip:PRESENTITY"/></adhocList>\
        <categoryList xmlns="http://schemas.microsoft.com/2006/09/sip/categorylist">\
        <category name="state"/><category name="note"/><category name="contactCard"/></categoryList></action></batchSub>
        """

    /// A SUBSCRIBE outside a dialog.
    func subscribe(
        _ watcher: String, to presentity: String, accept: String = "application/pidf+xml", expires: Int? = 3_600, extra: String = "",
        body: String = "", contentType: String = "", via peer: TransportAddress, callID: String? = nil, maxForwards: Int = 70
    ) -> String {
        let id = number()
        let content = contentType.isEmpty ? "" : "Content-Type: \(contentType)\r\n"
        return "SUBSCRIBE sip:\(presentity) SIP/2.0\r\n"
            + "Via: SIP/2.0/\(peer.transport.rawValue.uppercased()) \(peer.host):\(peer.port);branch=z9hG4bKb\(id)\r\n"
            + "Max-Forwards: \(maxForwards)\r\nFrom: <sip:\(watcher)>;tag=w\(id)\r\nTo: <sip:\(presentity)>\r\n"
            + "Call-ID: \(callID ?? "call\(id)")\r\nCSeq: 1 SUBSCRIBE\r\nContact: <sip:\(peer.host):\(peer.port)>\r\nEvent: presence\r\n"
            + (accept.isEmpty ? "" : "Accept: \(accept)\r\n") + (expires.map { "Expires: \($0)\r\n" } ?? "") + extra + content
            + "Content-Length: \(body.utf8.count)\r\n\r\n" + body
    }

    /// A single category SUBSCRIBE (MS-PRES 3.4.5.1.1).
    func categorySubscribe(
        _ watcher: String, to presentity: String, expires: Int? = 3_600, piggyback: Bool = true, extra: String = "",
        via peer: TransportAddress = Bench.enterprise
    ) -> String {
        subscribe(
            watcher, to: presentity,
            accept: "application/msrtc-event-categories+xml, application/rlmi+xml, multipart/related", expires: expires,
            extra: (piggyback ? "Supported: ms-piggyback-first-notify\r\n" : "") + "Supported: eventlist\r\n" + extra,
            body: Self.categoryBody.replacingOccurrences(of: "PRESENTITY", with: presentity),
            contentType: "application/msrtc-adrl-categorylist+xml", via: peer)
    }

    /// Answers a request of the gateway.
    func answer(
        _ request: SIPRequest, _ status: Int, from peer: TransportAddress, headers: [(SIPHeaderName, String)] = [], body: String = ""
    ) {
        var response = SIPResponse(
            to: request, status: SIPStatus(rawValue: status),
            toTag: request.method == .subscribe ? "far\(request.headers.fromTag ?? "")" : nil)
        if request.method == .subscribe { response.headers.set(.contact, "<sip:\(peer.host):\(peer.port)>") }
        for (name, value) in headers { response.headers.set(name, value) }
        response.body = Array(body.utf8)
        send(.response(response), from: peer)
    }

    /// A NOTIFY of the remote domain in the dialog that this SUBSCRIBE asked for.
    func notify(
        _ subscribe: SIPRequest, _ state: String, cSeq: Int, type: String = "", body: String = "", from peer: TransportAddress,
        tag: String? = nil, method: SIPMethod = .notify
    ) {
        let content = type.isEmpty ? "" : "Content-Type: \(type)\r\n"
        let text =
            "\(method) \(subscribe.headers.contact?.uri.description ?? "sip:gone") SIP/2.0\r\n"
            + "Via: SIP/2.0/UDP \(peer.host):\(peer.port);branch=z9hG4bKn\(number())\r\nMax-Forwards: 70\r\n"
            + "From: <\(subscribe.headers.to?.uri.description ?? "")>;tag=\(tag ?? "far\(subscribe.headers.fromTag ?? "")")\r\n"
            + "To: \(subscribe.headers.first(.from) ?? "")\r\nCall-ID: \(subscribe.headers.callID ?? "")\r\nCSeq: \(cSeq) \(method)\r\n"
            + "Contact: <sip:\(peer.host):\(peer.port)>\r\nEvent: presence\r\nSubscription-State: \(state)\r\n" + content
            + "Content-Length: \(body.utf8.count)\r\n\r\n" + body
        send(text, from: peer)
    }

    /// A request of a watcher in the dialog that a 200 of the gateway made.
    func inDialog(
        _ response: SIPResponse, cSeq: Int, expires: Int, extra: String = "", body: String = "", contentType: String = "",
        via peer: TransportAddress
    ) -> String {
        let content = contentType.isEmpty ? "" : "Content-Type: \(contentType)\r\n"
        return "SUBSCRIBE \(response.headers.contact?.uri.description ?? "sip:gone") SIP/2.0\r\n"
            + "Via: SIP/2.0/UDP \(peer.host):\(peer.port);branch=z9hG4bKr\(number())\r\nMax-Forwards: 70\r\n"
            + "From: \(response.headers.first(.from) ?? "")\r\nTo: \(response.headers.first(.to) ?? "")\r\n"
            + "Call-ID: \(response.headers.callID ?? "")\r\nCSeq: \(cSeq) SUBSCRIBE\r\nContact: <sip:\(peer.host):\(peer.port)>\r\n"
            + "Event: presence\r\nExpires: \(expires)\r\n" + extra + content + "Content-Length: \(body.utf8.count)\r\n\r\n" + body
    }

    static func pidf(_ entity: String, basic: String = "open", activity: String? = nil, note: String? = nil) -> String {
        let person =
            activity.map { "<dm:person id=\"p1\"><rpid:activities><rpid:\($0)/></rpid:activities></dm:person>" } ?? ""
        return """
            <?xml version="1.0" encoding="UTF-8"?><presence xmlns="urn:ietf:params:xml:ns:pidf" \
            xmlns:dm="urn:ietf:params:xml:ns:pidf:data-model" xmlns:rpid="urn:ietf:params:xml:ns:pidf:rpid" entity="sip:\(entity)">\
            <tuple id="t1"><status><basic>\(basic)</basic></status></tuple>\(note.map { "<note>\($0)</note>" } ?? "")\(person)</presence>
            """
    }

    static func state(_ availability: Int, token: String? = nil) -> String {
        let activity = token.map { "<activity token=\"\($0)\"/>" } ?? ""
        return """
            <category name="state" instance="1" publishTime="2026-11-22T10:13:00.000"><state \
            xmlns="http://schemas.microsoft.com/2006/09/sip/state" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
            xsi:type="aggregateState"><availability>\(availability)</availability>\(activity)</state></category>
            """
    }

    static func categories(_ uri: String, _ content: String) -> String {
        "<categories xmlns=\"http://schemas.microsoft.com/2006/09/sip/categories\" uri=\"sip:\(uri)\">\(content)</categories>"
    }
}

extension SIPRequest {
    var text: String { String(decoding: body, as: UTF8.self) }
}

extension SIPResponse {
    var text: String { String(decoding: body, as: UTF8.self) }
}

extension String {
    func replacingOccurrences(of target: String, with replacement: String) -> String {
        split(separator: target, omittingEmptySubsequences: false).joined(separator: replacement)
    }
}
