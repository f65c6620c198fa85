/// What the transaction layer asks its user and its transport to do.
public enum TransactionAction: Equatable, Sendable {
    /// A new request; answer it with ``TransactionLayer/respond(_:_:at:)``.
    case deliver(SIPRequest, ServerTransactionID, MessageSource)
    /// A BENOTIFY: never to be answered (MS-SIP 3.5).
    case deliverUnanswered(SIPRequest, MessageSource)
    /// A response to a request of ours, 1xx included.
    case response(ClientTransactionID, SIPResponse, MessageSource)
    /// No final response within 64*T1: treat it as 408 (RFC 3261 8.1.3.1).
    case timeout(ClientTransactionID)
    /// The request could not be sent: treat it as 503 (RFC 3261 8.1.3.1).
    case transportFailed(ClientTransactionID, reason: String)
    case send(OutboundMessage)
    /// A message was refused before it became a request of anybody; for logs and counters.
    case refused(SIPParseError, MessageSource)
    /// A response that names a request of ours and cannot be its answer; dropped.
    case answerRefused(AnswerFault, MessageSource)
    /// A message was dropped: a response that matches nothing, an ACK, a copy, an unanswered request that was not let in, or one that
    /// comes again; for counters.
    case dropped(DropReason)

    public enum DropReason: String, Hashable, Sendable {
        case strayResponse, foreignSentBy, ack, copy, refused, postponed
    }

    /// Why a response is not believed; the raw value is for an operator.
    public enum AnswerFault: String, Hashable, Sendable {
        /// Not over the connection, or not from a host of the domain, to which the request went.
        case origin = "it did not come from where the request went"
        case identifiers = "its Call-ID, From tag or CSeq number is not that of the request"
    }
}

/// All transactions of one shard (RFC 3261 17): matches, retransmits, times out, refuses what needs no user.
///
/// A plain value: messages and `now` go in, actions come out; wake it at ``nextDeadline`` with ``advance(to:)``.
public struct TransactionLayer: Sendable {
    public struct Configuration: Sendable {
        public var timers: TransactionTimers
        /// Host and port that our Via carries, per transport.
        public var sentBy: [TransportProtocol: HostPort]
        /// More server transactions than this are answered 503; of one host half as many, so that no host takes all room from the others.
        public var serverLimit: Int
        /// More client transactions than this fail at once.
        public var clientLimit: Int
        /// Seconds in the Retry-After of a 503.
        public var retryAfter: UInt32
        /// Value of Allow in the refusal of an INVITE.
        public var allow: String
        /// Domains, in lower case, whose users' home this is: an INVITE to one of them is 480, since nobody here takes calls; others are 405.
        public var homeDomains: Set<String> = []
        /// Value of Server in answers that the layer gives itself; empty: none.
        public var server: String
        public var limits: SIPLimits
        /// Our Via over TLS says that requests are taken over the same connection (RFC 5923 4).
        public var announcesReuse = false
        /// Whether the answer to a sender may go to another host of its choice (`maddr` of Via, RFC 3261 18.2.2); nil: always.
        public var isAnswerPlace: (@Sendable (String, MessageSource) -> Bool)?
        /// Sees every answer that the layer gives a whole request itself, just before it is sent: to sign it.
        public var finish: (@Sendable (SIPRequest, inout SIPResponse, Instant) -> Void)?

        public init(
            sentBy: [TransportProtocol: HostPort], timers: TransactionTimers = .standard, serverLimit: Int = 100_000,
            clientLimit: Int = 100_000, retryAfter: UInt32 = 5,
            allow: String = "SUBSCRIBE, NOTIFY, BENOTIFY, PUBLISH, SERVICE, OPTIONS, CANCEL", server: String = "",
            limits: SIPLimits = .standard
        ) {
            self.sentBy = sentBy
            self.timers = timers
            self.serverLimit = serverLimit
            self.clientLimit = clientLimit
            self.retryAfter = retryAfter
            self.allow = allow
            self.server = server
            self.limits = limits
        }
    }

    /// A host (literals without brackets) and a port.
    public struct HostPort: Hashable, Sendable {
        public var host: String
        public var port: Int
        public init(_ host: String, _ port: Int) {
            self.host = host
            self.port = port
        }
    }

    struct Client: Sendable {
        var machine: ClientNonInviteTransaction
        var branch: String
        var method: SIPMethod
        /// The values of the request that its answer repeats (RFC 3261 8.2.6.2).
        var callID: String
        var from: String
        var number: UInt32
        var sentBy: String
        var message: OutboundMessage
        /// Where the answer comes from; nil until the transport has chosen a connection.
        var carrier: Carrier?
        /// Of a 2xx only the status is told.
        var isBrief: Bool
    }

    /// The beginning of our Via of one transport, and the sent-by in it.
    private struct OwnVia: Sendable {
        var head: String
        var sentBy: String

        init(_ transport: TransportProtocol, _ local: HostPort, isAlias: Bool) {
            let via = Via(transport, host: local.host, port: local.port, branch: "")
            let wish = transport == .udp ? ";rport" : isAlias ? ";alias" : ""
            head = "SIP/2.0/\(via.transportToken) \(via.sentBy)\(wish);branch="
            sentBy = via.sentBy
        }
    }

    private struct OwnViaKey: Hashable, Sendable {
        var transport: TransportProtocol
        var local: HostPort
    }

    struct Server: Sendable {
        var machine: ServerNonInviteTransaction
        var key: ServerTransactionKey
        var merged: MergedRequestKey?
        var source: MessageSource
        /// Where responses go, by the top Via as it was received.
        var destination: Destination
        /// The last response, kept for copies of the request.
        var last: OutboundMessage?
        /// What the user wants to remember until it is answered.
        var note: String?
        /// Its answers carry what they must, and no more.
        var isStranger: Bool
    }

    public var configuration: Configuration {
        didSet { ownVias.removeAll() }
    }
    private var ownVias: [OwnViaKey: OwnVia] = [:]
    var tokens: TokenGenerator
    var clients = SlotTable<Client>()
    var servers: [UInt64: Server] = [:]
    /// How many server transactions each host has.
    var hostServers: [String: Int] = [:]
    var serverKeys: [ServerTransactionKey: UInt64] = [:]
    var mergedKeys: [MergedRequestKey: UInt64] = [:]
    /// Client transactions whose request went over this very connection, and which end with it: no answer can come any more.
    var connectionClients: [ConnectionID: Set<UInt64>] = [:]
    var deadlines = DeadlineQueue<UInt64>()
    private var lastID: UInt64 = 0
    /// Requests, received and ours, that the limits left no room for since they were last asked about.
    var turnedAway: UInt64 = 0

    /// - Parameter tokens: For branches and for the tags of answers that the layer gives itself.
    public init(configuration: Configuration, tokens: TokenGenerator) {
        self.configuration = configuration
        self.tokens = tokens
    }

    /// Why a request fails that has no place in the table.
    public static let limitReason = "transaction limit"

    public var clientCount: Int { clients.count }
    public var serverCount: Int { servers.count }

    /// How many requests the limits left no room for since the last call.
    public mutating func takeTurnedAway() -> UInt64 {
        defer { turnedAway = 0 }
        return turnedAway
    }

    mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    // MARK: Requests of ours

    /// Sends a request as a new client transaction: prepends Via, keeps the bytes for retransmission.
    ///
    /// - Parameters:
    ///   - request: Without a Via of ours.
    ///   - sentBy: Host and port in our Via; nil: those of ``Configuration/sentBy``.
    ///   - connectPatience: See ``OutboundMessage/connectPatience``.
    ///   - isBrief: Of a 2xx that does not change the remote target only the status is wanted: ``TransactionAction/response`` then has
    ///     no headers and no body, and is not read beyond what finds its transaction.
    /// - Returns: The transaction, and what to do. If the table is full the request fails at once.
    public mutating func send(
        _ request: SIPRequest, to destination: Destination, over transport: TransportProtocol, sentBy: HostPort? = nil,
        isBrief: Bool = false,
        connectPatience: TimeSpan? = nil, at now: Instant
    ) -> (ClientTransactionID, [TransactionAction]) {
        guard clients.count < configuration.clientLimit else {
            turnedAway += 1
            let id = ClientTransactionID(rawValue: nextID())
            return (id, [.transportFailed(id, reason: Self.limitReason)])
        }
        let via = ownVia(transport, sentBy)
        let token = tokens.branch()
        let machine = ClientNonInviteTransaction(isReliable: transport.isReliable, timers: configuration.timers, at: now)
        let id = clients.insert { id in
            // The branch names its transaction, so that the answer finds it; the token keeps it from being guessed.
            let branch = token + "." + String(id, radix: 32)
            var message = Self.seal(request, destination, via: via.head + branch, token: id)
            message.connectPatience = connectPatience
            return Client(
                machine: machine, branch: branch, method: request.method, callID: request.headers.first(.callID) ?? "",
                from: request.headers.first(.from) ?? "", number: request.headers.cSeq?.number ?? 0, sentBy: via.sentBy,
                message: message, isBrief: isBrief)
        }
        if let carrier = Self.carrier(to: destination) { setCarrier(carrier, of: id) }
        deadlines.set(id, at: machine.nextDeadline)
        return (ClientTransactionID(rawValue: id), clients[id].map { [.send($0.message)] } ?? [])
    }

    /// Sends a request that is never answered: BENOTIFY (MS-SIP 3.5).
    /// - Parameter token: comes back in ``TransportNotice/failed(token:reason:)``; with ``unansweredMark``, so that it names no transaction.
    public mutating func sendUnanswered(
        _ request: SIPRequest, to destination: Destination, over transport: TransportProtocol, sentBy: HostPort? = nil, token: UInt64 = 0
    ) -> [TransactionAction] {
        let via = ownVia(transport, sentBy).head + tokens.branch()
        return [.send(Self.seal(request, destination, via: via, token: token))]
    }

    /// Set in the tokens of requests without an answer; other tables name their entries without this bit, or with the one above.
    public static let unansweredMark: UInt64 = 1 << 62

    private mutating func ownVia(_ transport: TransportProtocol, _ sentBy: HostPort?) -> OwnVia {
        let local = sentBy ?? configuration.sentBy[transport] ?? HostPort("invalid.invalid", transport.defaultPort)
        let key = OwnViaKey(transport: transport, local: local)
        if let known = ownVias[key] { return known }
        // A machine has few addresses; the texts are made anew if they ever change that often.
        if ownVias.count >= 64 { ownVias.removeAll() }
        let made = OwnVia(
            transport, local,
            isAlias: transport == .tls && configuration.announcesReuse)
        ownVias[key] = made
        return made
    }

    private static func seal(_ request: SIPRequest, _ destination: Destination, via: String, token: UInt64) -> OutboundMessage {
        var request = request
        request.headers.prepend(.via, via)
        return OutboundMessage(bytes: request.serialized(), destination: destination, token: token)
    }

    /// The transaction that a branch of ours names.
    func client(ofBranch branch: String) -> UInt64? {
        branch.utf8.lastIndex(of: 0x2E).flatMap { UInt64(branch[branch.utf8.index(after: $0)...], radix: 32) }
    }

    /// Whether a request of ours has left: false while the transport has no connection for it.
    public func hasLeft(_ id: ClientTransactionID) -> Bool { clients[id.rawValue]?.carrier != nil }

    /// Forgets a client transaction whose answer nobody waits for any more; late responses are dropped.
    public mutating func forget(_ id: ClientTransactionID) { removeClient(id.rawValue) }

    // MARK: Answers of ours

    /// Sends the user's response; a second final response is refused silently, and so is one to an unknown transaction.
    public mutating func respond(_ id: ServerTransactionID, _ response: SIPResponse, at now: Instant) -> [TransactionAction] {
        guard servers[id.rawValue]?.machine.respond(response.status, at: now) == .send, let destination = servers[id.rawValue]?.destination
        else { return [] }
        var response = response
        if servers[id.rawValue]?.isStranger == true { response.keepRequired() }
        let message = OutboundMessage(bytes: response.serialized(), destination: destination, token: id.rawValue)
        servers[id.rawValue]?.last = message
        settleServer(id.rawValue)
        return [.send(message)]
    }

    /// The sender of a request has proved its identity: its answers carry all that they may.
    public mutating func notStranger(_ id: ServerTransactionID) { servers[id.rawValue]?.isStranger = false }

    /// Where the request of a pending server transaction came from.
    public func source(of id: ServerTransactionID) -> MessageSource? { servers[id.rawValue]?.source }

    /// Keeps a text with a pending server transaction; it goes with it.
    public mutating func note(_ text: String, of id: ServerTransactionID) { servers[id.rawValue]?.note = text }

    /// The text kept with a server transaction.
    public func note(of id: ServerTransactionID) -> String? { servers[id.rawValue]?.note }

    // MARK: Time

    /// When ``advance(to:)`` next has something to do.
    public var nextDeadline: Instant? {
        mutating get { deadlines.next }
    }

    /// Fires every timer that is due.
    public mutating func advance(to now: Instant) -> [TransactionAction] {
        var actions: [TransactionAction] = []
        while let id = deadlines.popDue(at: now) {
            if var client = clients[id] {
                switch client.machine.advance(to: now) {
                case .nothing: break
                case .retransmit: actions.append(.send(client.message))
                case .timeout where client.carrier == nil:
                    // The transport never found a connection for it: the peer cannot have heard it.
                    actions.append(.transportFailed(ClientTransactionID(rawValue: id), reason: "no connection"))
                case .timeout: actions.append(.timeout(ClientTransactionID(rawValue: id)))
                case .terminate: break
                }
                clients[id]?.machine = client.machine
                settleClient(id)
            } else if servers[id] != nil {
                _ = servers[id]?.machine.advance(to: now)
                settleServer(id)
            }
        }
        return actions
    }

    // MARK: Tables

    mutating func settleClient(_ id: UInt64) {
        guard let machine = clients[id]?.machine else { return }
        if machine.state == .terminated { removeClient(id) } else { deadlines.set(id, at: machine.nextDeadline) }
    }

    mutating func removeClient(_ id: UInt64) {
        setCarrier(nil, of: id)
        guard clients.remove(id) != nil else { return }
        deadlines.set(id, at: nil)
    }

    mutating func settleServer(_ id: UInt64) {
        guard let server = servers[id] else { return }
        guard server.machine.state == .terminated else { return deadlines.set(id, at: server.machine.nextDeadline) }
        servers[id] = nil
        let host = server.source.remote.host
        let left = hostServers[host, default: 1] - 1
        hostServers[host] = left > 0 ? left : nil
        serverKeys[server.key] = nil
        if let merged = server.merged, mergedKeys[merged] == id { mergedKeys[merged] = nil }
        deadlines.set(id, at: nil)
    }
}
