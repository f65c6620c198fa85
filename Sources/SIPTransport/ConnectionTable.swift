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
    let datagrams: DatagramSender
    var connections: ConnectionIndex
    private var dirtyConnections: [StreamConnection] = []
    /// Addresses to which connections failed recently.
    var pauses: ConnectPauses
    var peerChecks = PeerChecks()
    /// Peers that have answered a ping; cleared at 4,096 entries.
    var answersPings: Set<TransportAddress> = []
    var random = SystemRandomNumberGenerator()
    private(set) var isClosing = false
    /// Octets of incomplete messages.
    var unfinished = UnfinishedOctets()
    /// Running TLS handshakes of accepted connections.
    var acceptedHandshakes = HandshakeShares()

    init(host: ShardHost) {
        self.host = host
        resolver = AddressResolver(loop: host.eventLoop)
        datagrams = DatagramSender(host: host, resolver: resolver)
        connections = ConnectionIndex(loop: host.index)
        pauses = ConnectPauses(shortest: host.options.reconnectPause, longest: host.options.longestReconnectPause)
    }

    var connectionCount: Int { connections.count }

    /// Octets of all connections that the kernel has not taken.
    var waitingOctets: Int {
        connections.all.reduce(0) { $0 + $1.queuedBytes }
    }

    // MARK: Sockets

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
            id: connections.makeID(), accepted: channel, local: local.transportAddress(transport),
            remote: remote.transportAddress(transport), share: share)
        connections.add(connection)
        guard transport != .tls else {
            // Not reused for requests to its address, which no certificate proves.
            beginHandshake(connection, isAccepted: true)
            return connection
        }
        // Reused only for requests to exactly this address; no other address matches a peer's ephemeral port.
        if connections[connection.remote] == nil { connections.reuse(connection) }
        return connection
    }

    // MARK: Sending

    /// - Parameter isUnnamed: Whether the shard did not name the connection in the destination.
    func send(_ message: OutboundMessage, for shard: Int, isUnnamed: Bool = false) {
        switch message.destination {
        case .connection(let id, let fallback):
            let owner = ConnectionIndex.loop(of: id)
            if owner != host.index {
                host.post(.outbound(message, shard: shard, isUnnamed: isUnnamed), to: owner)
            } else if let connection = connections[id], !connection.isClosed, !connection.life.isFlushed {
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
            if let moved = datagrams.moved(message, to: address) {
                host.counters.largeRequestsOverTCP &+= 1
                var original = message
                original.destination = .address(address, from: local)
                enqueue(
                    QueuedMessage(bytes: moved, token: message.token, shard: shard, datagram: original, isUnnamed: true),
                    to: TransportAddress(.tcp, address.host, address.port))
            } else {
                datagrams.send(message, to: address, from: local, for: shard)
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
        if let connection = connections[address], !connection.isClosed {
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
        let connection = StreamConnection(id: connections.makeID(), toward: address)
        connections.add(connection)
        connections.reuse(connection)
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
        if connection.life.isConnecting {
            var message = message
            message.isUnnamed = false
            connection.wait(message)
            limitWait(of: message, on: connection)
            return
        }
        connection.send(message.bytes, token: message.token, shard: message.shard)
        host.counters.messagesSent &+= 1
        host.copy(message.bytes, isReceived: false, remote: connection.remote, local: connection.local)
        markDirty(connection)
    }

    /// Answers a ping (CRLFCRLF) with a pong (CRLF, RFC 5626 3.5.1).
    func answerKeepAlive(_ connection: StreamConnection) {
        guard connection.life.takesInput, connection.queuedBytes < host.options.maximumQueuedBytes else { return }
        connection.sendPong()
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
            connection.sendRefusal(bytes)
            host.copy(bytes, isReceived: false, remote: connection.remote, local: connection.local)
        }
        guard connection.life.isOpen else {
            connection.channel?.close(promise: nil)
            return
        }
        markDirty(connection)
        endInput(connection, reason: "input that cannot be framed")
    }

    private func markDirty(_ connection: StreamConnection) {
        if connection.markDirty() { dirtyConnections.append(connection) }
    }

    /// Flushes the output of a tick: one write per connection, one flush per UDP port.
    func flush() {
        if !dirtyConnections.isEmpty {
            let dirty = dirtyConnections
            dirtyConnections.removeAll(keepingCapacity: true)
            for connection in dirty { write(connection) }
        }
        datagrams.flush()
        host.tap?.flush()
    }

    private func write(_ connection: StreamConnection) {
        guard let (channel, bytes, tokens) = connection.takeOutput() else { return }
        let count = bytes.readableBytes
        host.counters.bytesSent &+= UInt64(count)
        let written = host.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { result in
            switch result {
            case .success:
                connection.finishWrite(of: count, taken: tokens)
                self.endIfAnswered(connection)
            case .failure(let error):
                connection.finishWrite(of: count, taken: nil)
                for (token, shard) in tokens { self.fail(token, shard, TransportError.reason(error)) }
            }
        }
        channel.writeAndFlush(bytes, promise: written)
    }

    /// Handles a message without a connection: one moved from UDP is sent over UDP, others fail.
    func turnBack(_ message: QueuedMessage, _ reason: String) {
        if let datagram = message.datagram, case .address(let address, let local) = datagram.destination {
            datagrams.send(datagram, to: address, from: local, for: message.shard, isUnnamed: true)
        } else {
            fail(message.token, message.shard, reason)
        }
    }

    func fail(_ token: UInt64, _ shard: Int, _ reason: String) { host.fail(token, shard, reason) }

    func close() -> EventLoopFuture<Void> {
        isClosing = true
        let channels = datagrams.ports.map(\.channel) + connections.all.compactMap(\.channel)
        var closing = channels.map { $0.close() }
        if let tap = host.tap { closing.append(tap.close()) }
        return EventLoopFuture.andAllComplete(closing, on: host.eventLoop)
    }
}
