import Logging
import NIOCore
import NIOPosix
import SIPCore

/// How connections begin and end.
extension Wires {
    /// Why no connection to an address is tried now; nil: it may be.
    func obstacle(at address: TransportAddress) -> String? {
        if let tls = host.tls, tls.reloads != pausesSince {
            // What was refused may be what the new settings set right.
            pausesSince = tls.reloads
            pauses.forgetAll()
        }
        return pauses.obstacle(at: address, now: host.clock.now())
    }

    /// Whatever the peer says proves that it is there.
    func noteHeard(_ connection: StreamConnection) {
        if connection.noteHeard(), !connection.isAccepted { pauses.succeeded(connection.remote) }
    }

    func connect(_ connection: StreamConnection) {
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

    func opened(_ connection: StreamConnection, _ channel: any Channel) {
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

    /// Gives a message back if its connection is not ready in time, so that its sender can ask another server; the connection goes on for
    /// others.
    func limitWait(of message: QueuedMessage, on connection: StreamConnection) {
        guard let patience = message.patience, message.token != 0 else { return }
        let (token, shard) = (message.token, message.shard)
        let bound = NIOLoopBound((self, connection), eventLoop: host.eventLoop)
        host.eventLoop.scheduleTask(in: patience.amount) {
            let (wires, connection) = bound.value
            guard connection.state == .connecting,
                let place = connection.waiting.firstIndex(where: { $0.token == token && $0.shard == shard })
            else { return }
            connection.waitingBytes -= connection.waiting.remove(at: place).bytes.count
            let span = "after \(patience.nanoseconds / 1_000_000) ms"
            let isSecuring = connection.handshakeSince != nil
            wires.fail(token, shard, isSecuring ? "the TLS handshake was not over \(span)" : "no connection \(span)")
            wires.host.schedulePump()
        }
    }

    func refused(_ connection: StreamConnection, _ reason: String) {
        guard connection.state != .closed else { return }
        let waiting = connection.waiting
        connection.waiting = []
        forget(connection)
        if !connection.isAccepted { pauses.failed(connection.remote, reason, at: host.clock.now(), using: &random) }
        host.logger.debug("connect failed", metadata: ["remote": "\(connection.remote)", "reason": "\(reason)"])
        for message in waiting {
            if let datagram = message.datagram, case .address(let address, _) = datagram.destination,
                largeRequests.refused(address, at: .now())
            {
                host.logger.notice(
                    "large request stays on UDP: the peer refuses TCP", metadata: ["remote": "\(address)", "reason": "\(reason)"])
            }
            turnBack(message, reason)
        }
    }

    /// The connection is no more, by whichever side.
    /// - Parameters:
    ///   - isOurs: we closed it.
    ///   - isDead: what was written since the peer was heard last may never have arrived.
    func ended(_ connection: StreamConnection, reason: String, isOurs: Bool = false, isDead: Bool = false) {
        guard connection.state != .closed else { return }
        if !isOurs, !connection.isAccepted, !connection.wasEverHeard {
            // It was taken and dropped, as where nobody stands behind a load balancer.
            pauses.failed(connection.remote, reason, at: host.clock.now(), using: &random)
        }
        let wasOpen = connection.state == .open
        let lost =
            connection.waiting.map { ($0.token, $0.shard) }
            + (isDead || !connection.wasEverHeard && connection.remote.transport == .tls ? connection.unheardTokens : [])
            + connection.outgoingTokens
        connection.waiting = []
        connection.outgoingTokens = []
        connection.unheardTokens = []
        connection.outgoing = ByteBuffer()
        forget(connection)
        if wasOpen { host.counters.connectionsClosed &+= 1 }
        for (token, shard) in lost { fail(token, shard, reason) }
        host.reportToAll(.closed(connection.id))
    }

    /// Closes a connection that is of no use any more.
    func abandon(_ connection: StreamConnection, reason: String, isDead: Bool = false) {
        let channel = connection.channel
        ended(connection, reason: reason, isOurs: true, isDead: isDead)
        channel?.close(promise: nil)
    }

    /// Closes open connections.
    /// - Returns: How many.
    func close(reason: String, where isMeant: (StreamConnection) -> Bool) -> Int {
        let meant = connections.values.filter { $0.state == .open && isMeant($0) }
        for connection in meant { abandon(connection, reason: reason) }
        return meant.count
    }

    func forget(_ connection: StreamConnection) {
        endHandshake(connection)
        noteUnfinished(connection, 0)
        withdraw(connection)
        if let share = connection.share { host.remoteAddresses.release(share) }
        connection.share = nil
        connection.state = .closed
        connections[connection.id] = nil
    }
}
