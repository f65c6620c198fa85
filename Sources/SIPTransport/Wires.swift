import Logging
import NIOCore
import NIOPosix
import SIPCore

/// The sockets of one loop: its UDP ports, its connections by id and by far address, and the rules for choosing among them.
///
/// A stream message goes over the connection that it names, else over any live connection to the same address (RFC 3261 18),
/// else over a new one. What cannot be sent is reported to the shard that wanted it.
final class Wires {
    unowned let host: ShardHost
    let resolver: AddressResolver
    private(set) var ports: [DatagramPort] = []
    private(set) var connections: [ConnectionID: StreamConnection] = [:]
    private var byAddress: [TransportAddress: StreamConnection] = [:]
    private var dirtyConnections: [StreamConnection] = []
    private var nextConnection: UInt64 = 1
    private var largeRequests: LargeRequestRule
    private(set) var isClosing = false
    /// TLS handshakes under way with peers that connected to us.
    var acceptedHandshakes = HandshakeShares()

    init(host: ShardHost) {
        self.host = host
        resolver = AddressResolver(loop: host.eventLoop)
        largeRequests = LargeRequestRule(options: host.options)
    }

    var connectionCount: Int { connections.count }

    var isDrained: Bool {
        connections.values.allSatisfy { $0.queuedBytes == 0 }
    }

    // MARK: Sockets

    func add(_ port: DatagramPort) {
        ports.append(port)
    }

    /// A connection that a peer opened; nil when the table is full.
    func accepted(_ channel: any Channel, transport: TransportProtocol) -> StreamConnection? {
        guard !isClosing, connections.count < host.options.maximumConnections, let remote = channel.remoteAddress,
            let local = channel.localAddress
        else {
            host.counters.connectionsRefused &+= 1
            return nil
        }
        guard transport != .tls || mayBeginHandshake(from: remote.transportAddress(transport)) else { return nil }
        host.counters.connectionsAccepted &+= 1
        let connection = StreamConnection(
            id: makeID(), local: local.transportAddress(transport), remote: remote.transportAddress(transport),
            state: transport == .tls ? .connecting : .open, channel: channel)
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

    func send(_ message: OutboundMessage, for shard: Int) {
        switch message.destination {
        case .connection(let id, let fallback):
            let owner = self.shard(of: id)
            if owner != host.index {
                host.post(.outbound(message, shard: shard), to: owner)
            } else if let connection = connections[id], connection.state != .closed {
                enqueue(QueuedMessage(bytes: message.bytes, token: message.token, shard: shard), on: connection)
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
                    QueuedMessage(bytes: moved, token: message.token, shard: shard, datagram: original),
                    to: TransportAddress(.tcp, address.host, address.port))
            } else {
                sendDatagram(message, to: address, from: local, for: shard)
            }
        case .tls where host.tls == nil:
            fail(message.token, shard, "TLS is not configured")
        case .tcp, .tls:
            enqueue(QueuedMessage(bytes: message.bytes, token: message.token, shard: shard), to: address)
        }
    }

    private func enqueue(_ message: QueuedMessage, to address: TransportAddress) {
        if let connection = byAddress[address], connection.state != .closed {
            enqueue(message, on: connection)
            return
        }
        guard !isClosing, connections.count < host.options.maximumConnections else {
            host.counters.connectionsRefused &+= 1
            return fail(message.token, message.shard, "too many connections")
        }
        let connection = StreamConnection(
            id: makeID(), local: TransportAddress(address.transport, "", 0), remote: address, state: .connecting, channel: nil)
        connections[connection.id] = connection
        byAddress[address] = connection
        enqueue(message, on: connection)
        connect(connection)
    }

    private func enqueue(_ message: QueuedMessage, on connection: StreamConnection) {
        guard connection.queuedBytes + message.bytes.count <= host.options.maximumQueuedBytes else {
            host.counters.queueOverflows &+= 1
            host.logger.notice("slow peer closed", metadata: ["connection": "\(connection.id.rawValue)"])
            fail(message.token, message.shard, "the peer reads too slowly")
            abandon(connection, reason: "the peer reads too slowly")
            return
        }
        if connection.state == .connecting {
            connection.waitingBytes += message.bytes.count
            connection.waiting.append(message)
            return
        }
        connection.outgoing.writeBytes(message.bytes)
        host.counters.messagesSent &+= 1
        host.tap?.copy(message.bytes, from: connection.local, to: connection.remote, at: host.now())
        if message.token != 0 { connection.outgoingTokens.append((message.token, message.shard)) }
        markDirty(connection)
    }

    /// CRLF for CRLFCRLF (RFC 5626 3.5.1).
    func answerKeepAlive(_ connection: StreamConnection) {
        guard connection.state == .open, connection.queuedBytes < host.options.maximumQueuedBytes else { return }
        connection.outgoing.writeString("\r\n")
        markDirty(connection)
        host.schedulePump()
    }

    /// The peer sent what cannot be framed: one last answer, if there is a request to answer, then the end, since the rest of the stream
    /// has no meaning.
    func refuse(_ connection: StreamConnection, _ error: SIPParseError) {
        host.counters.framingErrors &+= 1
        host.logger.info("unframeable input", metadata: ["reason": "\(error)", "connection": "\(connection.id.rawValue)"])
        if let response = error.response(toTag: "unframed\(connection.id.rawValue)") {
            let bytes = response.serialized()
            connection.outgoing.writeBytes(bytes)
            host.tap?.copy(bytes, from: connection.local, to: connection.remote, at: host.now())
        }
        write(connection)
        connection.channel?.close(promise: nil)
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
            case .success: connection.noteWritten(tokens)
            case .failure(let error): for (token, shard) in tokens { self.fail(token, shard, TransportError.reason(error)) }
            }
        }
        channel.writeAndFlush(bytes, promise: written)
    }

    func fail(_ token: UInt64, _ shard: Int, _ reason: String) {
        host.counters.sendFailures &+= 1
        guard token != 0 else { return }
        host.report(.failed(token: token, reason: reason), to: shard)
    }

    // MARK: Life of a connection

    private func connect(_ connection: StreamConnection) {
        let target: EventLoopFuture<SocketAddress>
        if let known = resolver.resolved(connection.remote) {
            target = host.eventLoop.makeSucceededFuture(known)
        } else {
            target = resolver.resolve(connection.remote)
        }
        let host = self.host
        let bound = NIOLoopBound(connection, eventLoop: host.eventLoop)
        target.flatMap { address in
            ClientBootstrap(group: host.eventLoop)
                .connectTimeout(host.options.connectTimeout.amount)
                .channelOption(ChannelOptions.socketOption(.so_keepalive), value: 1)
                .channelOption(ChannelOptions.tcpOption(.tcp_nodelay), value: 1)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        if let tls = host.tls, bound.value.remote.transport == .tls {
                            try TLSHandshakeHandler.connect(channel, bound.value, host: host, service: tls)
                        }
                        try channel.pipeline.syncOperations.addHandler(StreamHandler(connection: bound.value, host: host))
                    }
                }
                .connect(to: address)
        }.assumeIsolated().whenComplete { result in
            switch result {
            case .success(let channel): self.opened(connection, channel)
            case .failure(let error): self.refused(connection, TransportError.reason(error))
            }
            self.host.schedulePump()
        }
    }

    private func opened(_ connection: StreamConnection, _ channel: any Channel) {
        // A TLS connection is open when its peer has proved who it is.
        if connection.remote.transport == .tls, connection.state != .closed {
            connection.channel = channel
            return beginHandshake(connection, isAccepted: false)
        }
        becomeOpen(connection, channel)
    }

    func becomeOpen(_ connection: StreamConnection, _ channel: any Channel) {
        guard connection.state == .connecting, channel.isActive else {
            channel.close(promise: nil)
            return ended(connection, reason: "closed by the peer")
        }
        if !connection.isAccepted { host.counters.connectionsOpened &+= 1 }
        connection.state = .open
        connection.channel = channel
        connection.lastActivity = .now()
        if let local = channel.localAddress { connection.local = local.transportAddress(connection.remote.transport) }
        let waiting = connection.waiting
        connection.waiting = []
        connection.waitingBytes = 0
        for message in waiting { enqueue(message, on: connection) }
    }

    func refused(_ connection: StreamConnection, _ reason: String) {
        guard connection.state != .closed else { return }
        let waiting = connection.waiting
        connection.waiting = []
        forget(connection)
        host.logger.debug("connect failed", metadata: ["remote": "\(connection.remote)", "reason": "\(reason)"])
        for message in waiting {
            if let datagram = message.datagram, case .address(let address, let local) = datagram.destination {
                if largeRequests.refused(address, at: .now()) {
                    host.logger.notice(
                        "large request stays on UDP: the peer refuses TCP", metadata: ["remote": "\(address)", "reason": "\(reason)"])
                }
                sendDatagram(datagram, to: address, from: local, for: message.shard)
            } else {
                fail(message.token, message.shard, reason)
            }
        }
    }

    /// The connection is no more, by whichever side.
    func ended(_ connection: StreamConnection, reason: String) {
        guard connection.state != .closed else { return }
        let wasOpen = connection.state == .open
        let lost = connection.waiting.map { ($0.token, $0.shard) } + connection.unheardTokens + connection.outgoingTokens
        connection.waiting = []
        connection.outgoingTokens = []
        connection.unheardTokens = []
        connection.outgoing = ByteBuffer()
        forget(connection)
        if wasOpen { host.counters.connectionsClosed &+= 1 }
        for (token, shard) in lost { fail(token, shard, reason) }
        host.reportToAll(.closed(connection.id))
    }

    func abandon(_ connection: StreamConnection, reason: String) {
        let channel = connection.channel
        ended(connection, reason: reason)
        channel?.close(promise: nil)
    }

    private func forget(_ connection: StreamConnection) {
        endHandshake(connection)
        connection.state = .closed
        connections[connection.id] = nil
        if byAddress[connection.remote] === connection { byAddress[connection.remote] = nil }
    }

    func close() -> EventLoopFuture<Void> {
        isClosing = true
        let channels = ports.map(\.channel) + connections.values.compactMap(\.channel)
        var closing = channels.map { $0.close() }
        if let tap = host.tap { closing.append(tap.close()) }
        return EventLoopFuture.andAllComplete(closing, on: host.eventLoop)
    }
}
