import SIPCore

/// Outcome of a request sent by a peer.
package enum PeerAnswer: Sendable {
    case response(SIPResponse)
    /// Timer F fired (RFC 3261 17.1.2.2).
    case timeout
    /// The transport failed to send the request, or the connection died.
    case unreachable(String)

    /// Status of the response; nil without one.
    package var status: SIPStatus? {
        if case .response(let response) = self { return response.status }
        return nil
    }
}

extension SIPURI {
    /// Key that is equal for all spellings of a user's address (``aorKey``); the text itself when it is not a SIP URI.
    static func key(of text: String) -> String { SIPURI(text)?.aorKey ?? text }
}

/// Scripted user agent: sends requests with retransmission, answers each request once and repeats that answer to retransmissions.
///
/// Uses its own non-INVITE transactions (RFC 3261 17), not those of the gateway, and records the other side's violations of standards in
/// `faults`.
package class SIPPeer: SansIOEndpoint {
    /// Name of the peer in the transcript and in `faults`.
    package let name: String
    /// Address on which it listens, also written into Via and Contact.
    package let address: TransportAddress
    /// Address to which requests outside dialogs are sent.
    package let nextHop: TransportAddress
    /// Received requests without retransmissions, in order: all up to 2,000, then at least the latest 1,000.
    package private(set) var requests: [SIPRequest] = []
    /// Violations of standards by the other side, as sentences.
    package private(set) var faults: [String] = []
    /// Whether the peer neither sends nor receives; its timers still run.
    package var isMute = false

    private struct ClientTransaction {
        var bytes: [UInt8]
        var destination: Destination
        var resendAt: Instant?
        var interval: TimeSpan
        var timeoutAt: Instant
        var token: UInt64
        var connection: ConnectionID?
        var completion: (PeerAnswer, Instant) -> Void
    }

    private var client: [String: ClientTransaction] = [:]
    /// Actions for send failures of requests without responses; cleared above 64.
    private var unanswered: [UInt64: () -> Void] = [:]
    private var finishedBranches: Set<String> = []
    private var server: [String: (answer: [UInt8]?, forgetAt: Instant)] = [:]
    private var alarms: [(id: UInt64, at: Instant, action: (Instant) -> Void)] = []
    private var output: [OutboundMessage] = []
    private var random: SeededRandom
    private var counter: UInt64 = 0

    /// Creates a peer; equal names and seeds give equal identifiers.
    package init(name: String, address: TransportAddress, nextHop: TransportAddress, seed: UInt64) {
        self.name = name
        self.address = address
        self.nextHop = nextHop
        random = SeededRandom(seed: seed ^ name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 })
    }

    // MARK: Overridden by subclasses

    /// Returns the response to a new request; nil for none yet, see ``send(_:to:)``.
    func answer(_ request: SIPRequest, from source: InboundMessage, at now: Instant) -> SIPResponse? {
        SIPResponse(to: request, status: .methodNotAllowed, toTag: token())
    }

    /// Handles the end of a connection.
    func lost(_ connection: ConnectionID, at now: Instant) {}

    // MARK: Identifiers and headers

    /// Returns 16 random hexadecimal digits, repeatable by the seed.
    final func token() -> String {
        let text = String(random.next(), radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }

    final func fault(_ text: String) { faults.append("\(name): \(text)") }

    /// Contact value of this peer.
    final func contact(user: String) -> String {
        "<sip:\(user)@\(address.host):\(address.port);transport=\(address.transport.rawValue)>"
    }

    // MARK: Sending

    /// Sends a request, with Via and Max-Forwards added.
    final func send(
        _ request: SIPRequest, to destination: Destination? = nil, at now: Instant,
        completion: @escaping (PeerAnswer, Instant) -> Void
    ) {
        var request = request
        let branch = "z9hG4bK" + token()
        let via = "SIP/2.0/\(address.transport.rawValue.uppercased()) \(address.host):\(address.port);branch=\(branch);rport"
        request.headers.prepend(.via, via)
        if !request.headers.contains(.maxForwards) { request.headers.set(.maxForwards, "70") }
        if !request.headers.contains(.userAgent) { request.headers.set(.userAgent, "scripted-peer") }
        counter += 1
        let bytes = request.serialized()
        let goal = destination ?? .address(nextHop, from: address.transport == .udp ? address : nil)
        let isReliable = isReliable(goal)
        var connection: ConnectionID?
        if case .connection(let named, _) = goal { connection = named }
        client[branch] = ClientTransaction(
            bytes: bytes, destination: goal, resendAt: isReliable ? nil : now + .milliseconds(500), interval: .milliseconds(500),
            timeoutAt: now + .seconds(32), token: counter, connection: connection, completion: completion)
        emit(bytes, to: goal, token: counter)
    }

    /// Ends the requests that wait for an answer over a connection that ended (RFC 3261 17.1.4).
    final func failTransactions(over connection: ConnectionID, at now: Instant) {
        for branch in client.filter({ $0.value.connection == connection }).keys.sorted() {
            finish(branch, .unreachable("connection closed"), at: now)
        }
    }

    /// Sends a request without response or retransmission (BENOTIFY, MS-SIP 3.5).
    /// - Parameter failed: Called when the transport could not send the request.
    final func sendUnanswered(_ request: SIPRequest, to destination: Destination, failed: @escaping () -> Void = {}) {
        var request = request
        let via =
            "SIP/2.0/\(address.transport.rawValue.uppercased()) \(address.host):\(address.port);branch=z9hG4bK\(token())"
        request.headers.prepend(.via, via)
        request.headers.set(.maxForwards, "70")
        counter += 1
        if unanswered.count > 64 { unanswered.removeAll() }
        unanswered[counter] = failed
        emit(request.serialized(), to: destination, token: counter)
    }

    /// Sends a delayed response.
    final func send(_ response: SIPResponse, to source: InboundMessage) {
        let bytes = response.serialized()
        if let key = serverKey(response.headers, response.method) { server[key]?.answer = bytes }
        emit(bytes, to: returnPath(of: source, response.headers.topVia), token: 0)
    }

    private func emit(_ bytes: [UInt8], to destination: Destination, token: UInt64) {
        if !isMute { output.append(OutboundMessage(bytes: bytes, destination: destination, token: token)) }
    }

    private func isReliable(_ destination: Destination) -> Bool {
        switch destination {
        case .connection: true
        case .address(let address, _): address.transport.isReliable
        }
    }

    private func returnPath(of message: InboundMessage, _ via: Via?) -> Destination {
        if let connection = message.connection { return .connection(connection, fallback: nil) }
        var goal = message.remote
        // Without rport the response goes to the port of sent-by (RFC 3261 18.2.2, RFC 3581 4).
        if let via, !via.wantsRport { goal.port = via.sentByPort ?? 5060 }
        return .address(goal, from: message.local)
    }

    /// Destination of a request in a dialog: the first route or the remote target (RFC 3261 12.2.1.1).
    final func destination(route: [String], target: String, connection: ConnectionID?) -> Destination? {
        let text = route.first.flatMap { NameAddr($0)?.uri.description } ?? target
        guard let uri = SIPURI(text), !uri.host.isEmpty else { return nil }
        let transport = uri.transport ?? .udp
        let goal = TransportAddress(transport, uri.host, uri.port ?? transport.defaultPort)
        if transport.isReliable, let connection { return .connection(connection, fallback: goal) }
        return .address(goal, from: transport == .udp ? address : nil)
    }

    // MARK: Time

    /// Schedules an action; returns an id for `cancel`.
    @discardableResult
    final func schedule(at moment: Instant, _ action: @escaping (Instant) -> Void) -> UInt64 {
        counter += 1
        alarms.append((counter, moment, action))
        return counter
    }

    final func cancel(_ id: UInt64?) {
        guard let id else { return }
        alarms.removeAll { $0.id == id }
    }

    /// Earliest retransmission, timeout or scheduled action; nil when there is none.
    package final var nextDeadline: Instant? {
        var earliest: Instant?
        func consider(_ moment: Instant?) {
            if let moment, earliest.map({ moment < $0 }) ?? true { earliest = moment }
        }
        for transaction in client.values {
            consider(transaction.resendAt)
            consider(transaction.timeoutAt)
        }
        for alarm in alarms { consider(alarm.at) }
        return earliest
    }

    /// Runs due retransmissions, timeouts and scheduled actions.
    package final func advance(to now: Instant) {
        for branch in client.keys.sorted() {
            guard var transaction = client[branch] else { continue }
            if transaction.timeoutAt <= now {
                finish(branch, .timeout, at: now)
            } else if let resendAt = transaction.resendAt, resendAt <= now {
                transaction.interval = min(transaction.interval * 2, .seconds(4))
                transaction.resendAt = now + transaction.interval
                client[branch] = transaction
                emit(transaction.bytes, to: transaction.destination, token: transaction.token)
            }
        }
        let due = alarms.filter { $0.at <= now }
        alarms.removeAll { $0.at <= now }
        for alarm in due.sorted(by: { ($0.at, $0.id) < ($1.at, $1.id) }) { alarm.action(now) }
        if server.count > 64 { server = server.filter { $0.value.forgetAt > now } }
    }

    private func finish(_ branch: String, _ answer: PeerAnswer, at now: Instant) {
        guard let transaction = client.removeValue(forKey: branch) else { return }
        if finishedBranches.count > 4096 { finishedBranches.removeAll() }
        finishedBranches.insert(branch)
        transaction.completion(answer, now)
    }

    // MARK: Receiving

    /// Handles a message; ignored while the peer is mute.
    package final func receive(_ message: InboundMessage, at now: Instant) {
        if isMute { return }
        switch SIPParser.parse(message.bytes, framing: message.connection == nil ? .datagram : .stream) {
        case .failure(let error):
            fault("unreadable message: \(error): \(String(decoding: message.bytes.prefix(200), as: UTF8.self))")
        case .success(.response(let response)):
            receive(response, at: now)
        case .success(.request(let request)):
            receive(request, from: message, at: now)
        }
    }

    /// Fails requests that could not be sent, and reports closed connections to the subclass.
    package final func receive(_ notice: TransportNotice, at now: Instant) {
        switch notice {
        case .closed(let connection, _):
            lost(connection, at: now)
        case .failed(let token, let reason):
            unanswered.removeValue(forKey: token)?()
            let branches = client.filter { $0.value.token == token }.keys.sorted()
            for branch in branches { finish(branch, .unreachable(reason), at: now) }
        case .carried(let token, .connection(let connection)):
            for branch in client.filter({ $0.value.token == token }).keys { client[branch]?.connection = connection }
        case .late, .answered, .carried:
            break
        }
    }

    private func receive(_ response: SIPResponse, at now: Instant) {
        guard let branch = response.headers.topVia?.branch else { return fault("a response without Via") }
        guard let transaction = client[branch] else {
            if !finishedBranches.contains(branch) { fault("\(response.status.rawValue) to a request that was never sent") }
            return
        }
        if response.status.isProvisional {
            if transaction.resendAt != nil { client[branch]?.resendAt = now + .seconds(4) }
            return
        }
        if response.headers.toTag == nil { fault("\(response.status.rawValue) without a To tag (RFC 3261 8.2.6.2)") }
        finish(branch, .response(response), at: now)
    }

    private func receive(_ request: SIPRequest, from message: InboundMessage, at now: Instant) {
        guard let key = serverKey(request.headers, request.method) else { return fault("\(request.method) without Via branch") }
        if let known = server[key] {
            if let bytes = known.answer { emit(bytes, to: returnPath(of: message, request.headers.topVia), token: 0) }
            return
        }
        judge(request)
        requests.append(request)
        if requests.count > 2000 { requests.removeFirst(1000) }
        server[key] = (nil, now + .seconds(40))
        if let response = answer(request, from: message, at: now) { send(response, to: message) }
    }

    private func serverKey(_ headers: SIPHeaders, _ method: SIPMethod?) -> String? {
        guard let via = headers.topVia, let branch = via.branch, let method else { return nil }
        return "\(branch) \(via.sentBy) \(method)"
    }

    /// Checks what every request must have (RFC 3261 8.1.1).
    private func judge(_ request: SIPRequest) {
        let headers = request.headers
        if headers.fromTag == nil { fault("\(request.method) without a From tag") }
        if headers.maxForwards == nil { fault("\(request.method) without Max-Forwards") }
        if headers.cSeq?.method != request.method { fault("\(request.method) with CSeq \(headers.first(.cSeq) ?? "none")") }
        if request.body.isEmpty != (headers.contentType == nil) { fault("\(request.method): body and Content-Type do not go together") }
        if request.method == .subscribe || request.method == .notify || request.method == .benotify {
            if headers.contact == nil && request.method != .benotify { fault("\(request.method) without Contact") }
            if headers.event == nil { fault("\(request.method) without Event") }
        }
    }

    /// Returns and removes the messages to send.
    package final func takeOutput() -> [OutboundMessage] {
        defer { output = [] }
        return output
    }
}
