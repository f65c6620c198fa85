import Logging
import NIOCore
import NIOPosix
import SIPCore

/// The sockets of one loop: its UDP ports, its connections by id and by far address, and the rules for choosing among them.
///
/// A stream message goes over the connection that it names, else over any live connection to the same address (RFC 3261 18) or one that
/// the partner there has opened (RFC 5923), else over a new one. What cannot be sent is reported to the shard that wanted it.
final class Wires {
    unowned let host: ShardHost
    let resolver: AddressResolver
    private(set) var ports: [DatagramPort] = []
    var connections: [ConnectionID: StreamConnection] = [:]
    var byAddress: [TransportAddress: StreamConnection] = [:]
    private var dirtyConnections: [StreamConnection] = []
    private var nextConnection: UInt64 = 1
    var largeRequests: LargeRequestRule
    /// Where connecting failed lately.
    var pauses: ConnectPauses
    /// How often the TLS settings had been replaced when that was last looked at.
    var pausesSince: UInt64 = 0
    /// How often they had been replaced when the peers of all connections were last checked.
    var peersCheckedSince: UInt64 = 0
    /// When they were last checked, by the wall clock.
    var peersCheckedAt: Instant?
    /// Peers that have answered a ping of ours.
    var answersPings: Set<TransportAddress> = []
    var random = SystemRandomNumberGenerator()
    private(set) var isClosing = false
    /// What connections hold of messages that are not complete.
    var unfinished = UnfinishedOctets()
    /// When the log was told that this is too much.
    var unfinishedToldAt: NIODeadline?
    /// TLS handshakes under way with peers that connected to us.
    var acceptedHandshakes = HandshakeShares()

    init(host: ShardHost) {
        self.host = host
        resolver = AddressResolver(loop: host.eventLoop)
        largeRequests = LargeRequestRule(options: host.options)
        pauses = ConnectPauses(shortest: host.options.reconnectPause, longest: host.options.longestReconnectPause)
    }

    var connectionCount: Int { connections.count }

    /// Octets that have not reached the kernel.
    var waitingOctets: Int {
        connections.values.reduce(0) { $0 + $1.queuedBytes }
    }

    // MARK: Sockets

    func add(_ port: DatagramPort) {
        ports.append(port)
    }

    /// A connection that a peer opened; nil when the table is full, or the peer's address has as many as it may have.
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
            // Never reused for requests to its address, which no certificate proves.
            beginHandshake(connection, isAccepted: true)
            return connection
        }
        // Reused for requests to exactly this address; a peer's ephemeral port is nobody's listener, so nothing else matches it.
        if byAddress[connection.remote] == nil { byAddress[connection.remote] = connection }
        return connection
    }

    private func makeID() -> ConnectionID {
        defer { nextConnection += 1 }
        return ConnectionID(rawValue: UInt64(host.index) << 48 | nextConnection)
    }

    private func shard(of id: ConnectionID) -> Int { Int(id.rawValue >> 48) }

    // MARK: Sending

    /// - Parameter isUnnamed: the shard did not name the connection that the destination names.
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
                // A copy that was sent before may have gone over TCP.
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
        if let reason = obstacle(at: address) {
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

    /// CRLF for CRLFCRLF (RFC 5626 3.5.1).
    func answerKeepAlive(_ connection: StreamConnection) {
        guard connection.state == .open, connection.ending == nil, connection.queuedBytes < host.options.maximumQueuedBytes else { return }
        connection.outgoing.writeString("\r\n")
        markDirty(connection)
        host.schedulePump()
    }

    /// The peer sent what cannot be framed: it is answered, if it is a request, and so is what was taken before it. Then comes the end, since
    /// the rest of the stream has no meaning.
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

    /// Ends the tick: one write per connection, one flush per UDP port.
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

    /// A message whose connection cannot be made: what was moved from UDP goes there, the rest fails.
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
