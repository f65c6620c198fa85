/// Action that the transaction layer requests of its user and its transport.
public enum TransactionAction: Equatable, Sendable {
    /// New request; respond with ``TransactionLayer/respond(_:_:at:)``.
    case deliver(SIPRequest, ServerTransactionID, MessageSource)
    /// BENOTIFY: must not be answered (MS-SIP 3.5).
    case deliverUnanswered(SIPRequest, MessageSource)
    /// Response to a sent request, 1xx included.
    case response(ClientTransactionID, SIPResponse, MessageSource)
    /// No final response within 64*T1: treat it as 408 (RFC 3261 8.1.3.1).
    case timeout(ClientTransactionID)
    /// The request could not be sent: treat it as 503 (RFC 3261 8.1.3.1).
    case transportFailed(ClientTransactionID, reason: String)
    case send(OutboundMessage)
    /// A malformed message was refused; for logs and counters.
    case refused(SIPParseError, MessageSource)
    /// A response that names a sent request but does not match it was dropped.
    case answerRefused(AnswerFault, MessageSource)
    /// A message was dropped: an unmatched response, an ACK, a copy, a refused BENOTIFY or a postponed message; for counters.
    case dropped(DropReason)

    /// Reason for dropping a message.
    public enum DropReason: String, Hashable, Sendable {
        case strayResponse, foreignSentBy, ack, copy, refused, postponed
    }

    /// Reason for rejecting a response; the raw value is a text for operators.
    public enum AnswerFault: String, Hashable, Sendable {
        /// It arrived over another connection, or not from a host of the domain, to which the request was sent.
        case origin = "it did not come from where the request went"
        case identifiers = "its Call-ID, From tag or CSeq number is not that of the request"
    }
}

/// Transactions of one shard (RFC 3261 17): matches, retransmits, times out, and refuses requests that need no user.
///
/// A plain value: messages and `now` go in, actions come out; call ``advance(to:)`` at ``nextDeadline``.
public struct TransactionLayer: Sendable {
    /// Settings of the layer.
    public struct Configuration: Sendable {
        /// Base intervals of RFC 3261 17.
        public var timers: TransactionTimers
        /// Host and port of the Via that the layer adds, by transport.
        public var sentBy: [TransportProtocol: HostPort]
        /// Limit of server transactions, beyond which requests get 503; one host may use half of it.
        public var serverLimit: Int
        /// Limit of client transactions, beyond which requests fail at once.
        public var clientLimit: Int
        /// Seconds in the Retry-After of a 503.
        public var retryAfter: UInt32
        /// Value of Allow in the refusal of an INVITE.
        public var allow: String
        /// Home domains in lower case: an INVITE to one of them gets 480, because no user takes calls; to others 405.
        public var homeDomains: Set<String> = []
        /// Name of this node in the explanation of a refused INVITE over reliable transports; empty: no explanation.
        public var node = ""
        /// Value of Server in the layer's own responses over reliable transports; empty: none.
        public var server: String
        /// Limits of received messages.
        public var limits: SIPLimits
        /// Whether the Via over TLS offers connection reuse (RFC 5923 4).
        public var announcesReuse = false
        /// Whether responses to a sender may go to the host that it names (`maddr` of Via, RFC 3261 18.2.2); nil: always.
        public var isAnswerAddress: (@Sendable (String, MessageSource) -> Bool)?
        /// Called for each response of the layer itself to a whole request, just before it is sent, to sign it.
        public var finish: (@Sendable (SIPRequest, inout SIPResponse, Instant) -> Void)?

        /// Creates settings; by default 100,000 transactions per side and a Retry-After of 5 s.
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

    /// Host (literals without brackets) and port.
    public struct HostPort: Hashable, Sendable {
        /// Name or address literal, without brackets.
        public var host: String
        /// Port number.
        public var port: Int
        public init(_ host: String, _ port: Int) {
            self.host = host
            self.port = port
        }
    }

    struct Client: Sendable {
        var machine: ClientNonInviteTransaction
        /// Places of the values that its response repeats (RFC 3261 8.2.6.2), in the octets of ``message``.
        var places: SealedRequest.Places
        /// CSeq number.
        var number: UInt32
        var message: OutboundMessage
        /// Carrier by which the response must arrive; nil until the transport has chosen a connection.
        var carrier: Carrier?
        /// Place in the list of its connection; nil: it is in none.
        var link: Link?
        /// Whether only the status of a 2xx is reported.
        var isBrief: Bool

        /// A value of the sent request.
        func text(_ place: SealedRequest.Place) -> String { String(decoding: message.bytes[place.range], as: UTF8.self) }

        /// Whether a branch is that of the sent request; takes the same time for each of its length.
        func isBranch(_ branch: String) -> Bool {
            var branch = branch
            return branch.withUTF8 { text in
                message.bytes.withUnsafeBufferPointer { $0.isEqual(places.branch.range, to: text, 0..<text.count) }
            }
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
        /// Destination of responses, by the top Via as received.
        var destination: Destination
        /// The last response, kept for copies of the request.
        var last: OutboundMessage?
        /// Text that the user keeps until the response.
        var note: String?
        /// Whether responses carry only what their status requires.
        var isStranger: Bool
    }

    /// Settings; a change applies to later messages.
    public var configuration: Configuration {
        didSet {
            ownVias.removeAll()
            lastVia = nil
        }
    }
    private var ownVias: [OwnViaKey: OwnVia] = [:]
    /// The one of ``ownVias`` that was used last: most requests leave by the same address.
    private var lastVia: (key: OwnViaKey, via: OwnVia)?
    var tokens: TokenGenerator
    var clients = SlotTable<Client>()
    var servers: [UInt64: Server] = [:]
    /// Number of server transactions by host.
    var hostServers: [String: Int] = [:]
    var serverKeys: [ServerTransactionKey: UInt64] = [:]
    var mergedKeys: [MergedRequestKey: UInt64] = [:]
    /// Newest client transaction of each connection (``Client/link``); they end with it, because no response can arrive any more.
    var connectionClients: [ConnectionID: UInt64] = [:]
    var deadlines = DeadlineQueue<UInt64>()
    private var lastID: UInt64 = 0
    /// Requests, received and sent, refused by the limits since the last query.
    var turnedAway: UInt64 = 0

    /// Creates a layer.
    /// - Parameter tokens: Source of branches and of the tags of the layer's own responses.
    public init(configuration: Configuration, tokens: TokenGenerator) {
        self.configuration = configuration
        self.tokens = tokens
    }

    /// Reason of a request that fails because the table is full.
    public static let limitReason = "transaction limit"

    /// Number of client transactions.
    public var clientCount: Int { clients.count }
    /// Number of server transactions.
    public var serverCount: Int { servers.count }

    /// Number of requests refused by the limits since the last call.
    public mutating func takeTurnedAway() -> UInt64 {
        defer { turnedAway = 0 }
        return turnedAway
    }

    mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    // MARK: Sent requests

    /// Sends a request as a new client transaction: prepends Via and keeps the bytes for retransmission.
    ///
    /// - Parameters:
    ///   - request: Without the Via of this hop.
    ///   - sentBy: Host and port of the Via; nil: those of ``Configuration/sentBy``.
    ///   - connectPatience: See ``OutboundMessage/connectPatience``.
    ///   - isBrief: Report only the status of a 2xx that does not change the remote target: ``TransactionAction/response`` then has
    ///     no headers and no body, and only its matching fields are read.
    /// - Returns: The transaction and the actions. If the table is full the request fails at once.
    public mutating func send(
        _ request: SIPRequest, to destination: Destination, over transport: TransportProtocol, sentBy: HostPort? = nil,
        isBrief: Bool = false,
        connectPatience: TimeSpan? = nil, at now: Instant
    ) -> (ClientTransactionID, [TransactionAction]) {
        let (id, message) = begin(
            request, to: destination, over: transport, sentBy: sentBy, isBrief: isBrief, connectPatience: connectPatience, at: now)
        return (id, [message.map { .send($0) } ?? .transportFailed(id, reason: Self.limitReason)])
    }

    /// Same as ``send(_:to:over:sentBy:isBrief:connectPatience:at:)``.
    /// - Returns: The transaction and the message to send; nil: the table is full, and the request fails with ``limitReason``.
    public mutating func begin(
        _ request: SIPRequest, to destination: Destination, over transport: TransportProtocol, sentBy: HostPort? = nil,
        isBrief: Bool = false, connectPatience: TimeSpan? = nil, at now: Instant
    ) -> (ClientTransactionID, OutboundMessage?) {
        guard clients.count < configuration.clientLimit else {
            turnedAway += 1
            return (ClientTransactionID(rawValue: nextID()), nil)
        }
        let machine = ClientNonInviteTransaction(isReliable: transport.isReliable, timers: configuration.timers, at: now)
        // The branch contains the id, so that a response finds its transaction; the random bits make it unguessable.
        let id = clients.nextName
        let sealed = SIPSerializer.seal(request, under: ownVia(transport, sentBy), tokens.branch(of: id))
        let message = OutboundMessage(bytes: sealed.bytes, destination: destination, token: id, connectPatience: connectPatience)
        let carrier = Self.carrier(to: destination)
        let link = link(id, to: carrier, isReliable: transport.isReliable)
        clients.insert(
            Client(
                machine: machine, places: sealed.places, number: request.headers.cSeq?.number ?? 0, message: message, carrier: carrier,
                link: link, isBrief: isBrief))
        deadlines.set(id, at: machine.nextDeadline)
        return (ClientTransactionID(rawValue: id), message)
    }

    /// Sends a request without response: BENOTIFY (MS-SIP 3.5).
    /// - Parameter token: Returned in ``TransportNotice/failed(token:reason:)``; set ``unansweredMark`` in it, so that it names no
    ///   transaction.
    public mutating func sendUnanswered(
        _ request: SIPRequest, to destination: Destination, over transport: TransportProtocol, sentBy: HostPort? = nil, token: UInt64 = 0
    ) -> [TransactionAction] {
        let sealed = SIPSerializer.seal(request, under: ownVia(transport, sentBy), tokens.branch(of: nil))
        return [.send(OutboundMessage(bytes: sealed.bytes, destination: destination, token: token))]
    }

    /// Bit set in the tokens of requests without response; other tables use names without this bit, or with the one above.
    public static let unansweredMark: UInt64 = 1 << 62

    private mutating func ownVia(_ transport: TransportProtocol, _ sentBy: HostPort?) -> OwnVia {
        let local = sentBy ?? configuration.sentBy[transport] ?? HostPort("invalid.invalid", transport.defaultPort)
        let key = OwnViaKey(transport: transport, local: local)
        if let lastVia, lastVia.key == key { return lastVia.via }
        // A machine has few addresses: clear the cache if there are ever more.
        if ownVias.count >= 64 { ownVias.removeAll() }
        let via = ownVias[key] ?? OwnVia(transport, local, isAlias: transport == .tls && configuration.announcesReuse)
        ownVias[key] = via
        lastVia = (key, via)
        return via
    }

    /// Id that a branch contains; nil if it contains none.
    func client(ofBranch branch: String) -> UInt64? {
        var branch = branch
        return branch.withUTF8 { Branch.id($0, $0.indices) }
    }

    /// Whether a request was sent: false while the transport has no connection for it.
    public func hasLeft(_ id: ClientTransactionID) -> Bool { clients[id.rawValue]?.carrier != nil }

    /// Removes a client transaction without a report; late responses are dropped.
    public mutating func forget(_ id: ClientTransactionID) { removeClient(id.rawValue) }

    // MARK: Sent responses

    /// Sends the user's response; a second final response, or one to an unknown transaction, is dropped.
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

    /// Marks the sender of a request as authenticated, so that responses carry all fields.
    public mutating func notStranger(_ id: ServerTransactionID) { servers[id.rawValue]?.isStranger = false }

    /// Source of the request of a pending server transaction; nil for an unknown one.
    public func source(of id: ServerTransactionID) -> MessageSource? { servers[id.rawValue]?.source }

    /// Stores a text with a pending server transaction, which is removed with it.
    public mutating func note(_ text: String, of id: ServerTransactionID) { servers[id.rawValue]?.note = text }

    /// Text stored with a server transaction; nil when there is none.
    public func note(of id: ServerTransactionID) -> String? { servers[id.rawValue]?.note }

    // MARK: Time

    /// Time at which ``advance(to:)`` must be called; nil when no timer runs.
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
                    // The transport never had a connection: the peer cannot have received it.
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
        guard let client = clients[id] else { return }
        if client.machine.state == .terminated { remove(client, id) } else { deadlines.set(id, at: client.machine.nextDeadline) }
    }

    mutating func removeClient(_ id: UInt64) {
        if let client = clients[id] { remove(client, id) }
    }

    /// Removes a client transaction, which is the one with this id.
    mutating func remove(_ client: Client, _ id: UInt64) {
        unlink(client)
        _ = clients.remove(id)
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
