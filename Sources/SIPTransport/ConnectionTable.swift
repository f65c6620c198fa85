import Logging
import NIOCore
import NIOPosix
import SIPCore

/// Holds the sockets of one loop (UDP ports, and connections by id and by remote address) and chooses one for each message.
///
/// A stream message uses the connection that it names, else any open connection to the same address (RFC 3261 18) or one that the partner
/// there opened (RFC 5923), else a new one. Failures are reported to the shard that sent the message.
final class ConnectionTable {
    unowned let host: ShardHost
    let resolver: AddressResolver
    private(set) var ports: [DatagramPort] = []
    var connections: [ConnectionID: StreamConnection] = [:]
    var byAddress: [TransportAddress: StreamConnection] = [:]
    private var dirtyConnections: [StreamConnection] = []
    private var nextConnection: UInt64 = 1
    var largeRequests: LargeRequestRule
    /// Addresses to which connections failed recently.
    var pauses: ConnectPauses
    /// Number of reloads at the time the pauses were last cleared.
    var pausesSince: UInt64 = 0
    /// Number of reloads at the last check of all peers.
    var peersCheckedSince: UInt64 = 0
    /// Wall-clock time of the last check of all peers.
    var peersCheckedAt: Instant?
    /// Peers that have answered a ping; cleared at 4,096 entries.
    var answersPings: Set<TransportAddress> = []
    var random = SystemRandomNumberGenerator()
    private(set) var isClosing = false
    /// Octets of incomplete messages.
    var unfinished = UnfinishedOctets()
    /// Time of the last log message about too many octets of incomplete messages.
    var unfinishedReportedAt: NIODeadline?
    /// Running TLS handshakes of accepted connections.
    var acceptedHandshakes = HandshakeShares()

    init(host: ShardHost) {
        self.host = host
        resolver = AddressResolver(loop: host.eventLoop)
        largeRequests = LargeRequestRule(options: host.options)
        pauses = ConnectPauses(shortest: host.options.reconnectPause, longest: host.options.longestReconnectPause)
    }

    var connectionCount: Int { connections.count }

    /// Octets of all connections that the kernel has not taken.
    var waitingOctets: Int {
        connections.values.reduce(0) { $0 + $1.queuedBytes }
    }

    // MARK: Sockets

    func add(_ port: DatagramPort) {
        ports.append(port)
    }

    /// Admits an accepted connection; nil when a limit of the table, the handshakes or the remote address is reached.
    func accepted(_ channel: any Channel, transport: TransportProtocol) -> StreamConnection? {
        guard !isClosing, connections.count < host.options.maximumConnections, let remote = channel.remoteAddress,
            let local = channel.localAddress
        else {
            host.counters.connectionsRefused &+= 1
            return nil
        }
        guard transport != .tls || mayBeginHandshake(from: remote.transportAddress(transport)) else { return nil }
        let share = RemoteAddressCounts.Key(host: remote.ipAddress ?? "")
        if case .full(let isNews) = host.remoteAddresses.take(share, limit: host.options.connectionsPerAddress, at: host.now()) {
            host.counters.connectionsOverShare &+= 1
            if isNews {
                host.logger.notice(
                    "too many connections from one address: new ones are closed",
                    metadata: ["remote": "\(remote.ipAddress ?? "")", "limit": "\(host.options.connectionsPerAddress)"])
            }
            return nil
        }
        host.counters.connectionsAccepted &+= 1
        let connection = StreamConnection(
            id: makeID(), local: local.transportAddress(transport), remote: remote.transportAddress(transport),
            state: transport == .tls ? .connecting : .open, channel: channel)
        connection.share = share
        connections[connection.id] = connection
        guard transport != .tls else {
            // Not reused for requests to its address, which no certificate proves.
            beginHandshake(connection, isAccepted: true)
            return connection
        }
        // Reused only for requests to exactly this address; no other address matches a peer's ephemeral port.
        if byAddress[connection.remote] == nil { byAddress[connection.remote] = connection }
        return connection
    }

    private func makeID() -> ConnectionID {
        defer { nextConnection += 1 }
        return ConnectionID(rawValue: UInt64(host.index) << 48 | nextConnection)
    }

    private func shard(of id: ConnectionID) -> Int { Int(id.rawValue >> 48) }

    // MARK: Sending

    /// - Parameter isUnnamed: Whether the shard did not name the connection in the destination.
    func send(_ message: OutboundMessage, for shard: Int, isUnnamed: Bool = false) {
        switch message.destination {
        case .connection(let id, let fallback):
            let owner = self.shard(of: id)
            if owner != host.index {
                host.post(.outbound(message, shard: shard, isUnnamed: isUnnamed), to: owner)
            } else if let connection = connections[id], connection.state != .closed, connection.ending != .flushed {
                enqueue(
                    QueuedMessage(
                        bytes: message.bytes, token: message.token, shard: shard, isUnnamed: isUnnamed, patience: message.connectPatience),
                    on: connection)
            } else if let fallback {
                send(message, to: fallback, from: nil, for: shard)
            } else {
                fail(message.token, shard, "the connection is closed")
            }
        case .address(let address, let local):
            send(message, to: address, from: local, for: shard)
        }
    }

    private func send(_ message: OutboundMessage, to address: TransportAddress, from local: TransportAddress?, for shard: Int) {
        switch address.transport {
        case .udp:
            if let moved = largeRequests.moved(message, to: address, at: .now()) {
                host.counters.largeRequestsOverTCP &+= 1
                var original = message
                original.destination = .address(address, from: local)
                enqueue(
                    QueuedMessage(bytes: moved, token: message.token, shard: shard, datagram: original, isUnnamed: true),
                    to: TransportAddress(.tcp, address.host, address.port))
            } else {
                // An earlier transmission may have used TCP.
                sendDatagram(message, to: address, from: local, for: shard, isUnnamed: largeRequests.isLarge(message))
            }
        case .tls where host.tls == nil:
            fail(message.token, shard, "TLS is not configured")
        case .tcp, .tls:
            enqueue(
                QueuedMessage(
                    bytes: message.bytes, token: message.token, shard: shard, isUnnamed: true, patience: message.connectPatience),
                to: address)
        }
    }

    private func enqueue(_ message: QueuedMessage, to address: TransportAddress) {
        if let connection = byAddress[address], connection.state != .closed {
            enqueue(message, on: connection)
            return
        }
        if reuse(message, toward: address) { return }
        if let reason = pauseReason(at: address) {
            host.counters.sendsPutOff &+= 1
            return turnBack(message, reason)
        }
        guard !isClosing, connections.count < host.options.maximumConnections else {
            host.counters.connectionsRefused &+= 1
            return fail(message.token, message.shard, "too many connections")
        }
        guard !FileDescriptors.areNearlyUsedUp else {
            host.counters.connectionsRefused &+= 1
            return fail(message.token, message.shard, "too few file descriptors")
        }
        let connection = StreamConnection(
            id: makeID(), local: TransportAddress(address.transport, "", 0), remote: address, state: .connecting, channel: nil)
        connections[connection.id] = connection
        byAddress[address] = connection
        enqueue(message, on: connection)
        connect(connection)
    }

    func enqueue(_ message: QueuedMessage, on connection: StreamConnection) {
        guard connection.queuedBytes + message.bytes.count <= host.options.maximumQueuedBytes else {
            host.counters.queueOverflows &+= 1
            host.logger.notice(
                "slow peer closed",
                metadata: [
                    "remote": "\(connection.remote)", "connection": "\(connection.id.rawValue)", "queued": "\(connection.queuedBytes)",
                ])
            fail(message.token, message.shard, "the peer reads too slowly")
            abandon(connection, reason: "the peer reads too slowly")
            return
        }
        if message.isUnnamed, message.token != 0 {
            host.report(.carried(token: message.token, by: .connection(connection.id)), to: message.shard)
        }
        if connection.state == .connecting {
            var message = message
            message.isUnnamed = false
            connection.waitingBytes += message.bytes.count
            connection.waiting.append(message)
            limitWait(of: message, on: connection)
            return
        }
        connection.outgoing.writeBytes(message.bytes)
        if connection.unanswered > 0, SIPStartLine.isFinalResponse(message.bytes) { connection.unanswered -= 1 }
        host.counters.messagesSent &+= 1
        host.tap?.copy(message.bytes, from: connection.local, to: connection.remote, at: host.now())
        if message.token != 0 { connection.outgoingTokens.append((message.token, message.shard)) }
        markDirty(connection)
    }

    /// Answers a ping (CRLFCRLF) with a pong (CRLF, RFC 5626 3.5.1).
    func answerKeepAlive(_ connection: StreamConnection) {
        guard connection.state == .open, connection.ending == nil, connection.queuedBytes < host.options.maximumQueuedBytes else { return }
        connection.outgoing.writeString("\r\n")
        markDirty(connection)
        host.schedulePump()
    }

    /// Handles input that cannot be framed: answers it if it is a request, finishes earlier requests, then closes, since the rest of the
    /// stream has no meaning.
    func refuse(_ connection: StreamConnection, _ error: SIPParseError) {
        host.counters.framingErrors &+= 1
        host.logger.info("unframeable input", metadata: ["reason": "\(error)", "connection": "\(connection.id.rawValue)"])
        if let response = error.response(toTag: String(random.next(), radix: 32) + String(random.next(), radix: 32)) {
            let bytes = response.serialized()
            connection.outgoing.writeBytes(bytes)
            host.tap?.copy(bytes, from: connection.local, to: connection.remote, at: host.now())
        }
        guard connection.state == .open else {
            connection.channel?.close(promise: nil)
            return
        }
        markDirty(connection)
        endInput(connection, reason: "input that cannot be framed")
    }

    private func markDirty(_ connection: StreamConnection) {
        guard !connection.isDirty else { return }
        connection.isDirty = true
        dirtyConnections.append(connection)
    }

    /// Flushes the output of a tick: one write per connection, one flush per UDP port.
    func flush() {
        if !dirtyConnections.isEmpty {
            let dirty = dirtyConnections
            dirtyConnections.removeAll(keepingCapacity: true)
            for connection in dirty { write(connection) }
        }
        for port in ports where port.isDirty {
            port.isDirty = false
            port.channel.flush()
        }
        host.tap?.flush()
    }

    private func write(_ connection: StreamConnection) {
        connection.isDirty = false
        guard connection.state == .open, let channel = connection.channel, connection.outgoing.readableBytes > 0 else { return }
        let bytes = connection.outgoing
        let tokens = connection.outgoingTokens
        let count = bytes.readableBytes
        connection.outgoing = ByteBuffer()
        connection.outgoingTokens = []
        connection.inFlightBytes += count
        connection.lastActivity = .now()
        host.counters.bytesSent &+= UInt64(count)
        let written = host.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { result in
            connection.inFlightBytes -= count
            connection.lastActivity = .now()
            switch result {
            case .success:
                connection.noteWritten(tokens)
                self.endIfAnswered(connection)
            case .failure(let error): for (token, shard) in tokens { self.fail(token, shard, TransportError.reason(error)) }
            }
        }
        channel.writeAndFlush(bytes, promise: written)
    }

    /// Handles a message without a connection: one moved from UDP is sent over UDP, others fail.
    func turnBack(_ message: QueuedMessage, _ reason: String) {
        if let datagram = message.datagram, case .address(let address, let local) = datagram.destination {
            sendDatagram(datagram, to: address, from: local, for: message.shard, isUnnamed: true)
        } else {
            fail(message.token, message.shard, reason)
        }
    }

    func fail(_ token: UInt64, _ shard: Int, _ reason: String) {
        host.counters.sendFailures &+= 1
        guard token != 0 else { return }
        host.report(.failed(token: token, reason: reason), to: shard)
    }

    func close() -> EventLoopFuture<Void> {
        isClosing = true
        let channels = ports.map(\.channel) + connections.values.compactMap(\.channel)
        var closing = channels.map { $0.close() }
        if let tap = host.tap { closing.append(tap.close()) }
        return EventLoopFuture.andAllComplete(closing, on: host.eventLoop)
    }
}
