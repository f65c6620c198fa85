import Logging
import NIOCore
import NIOPosix
import SIPCore

/// Opens and closes connections.
extension ConnectionTable {
    /// Reason why an address is paused; nil when a connection may be opened.
    func pauseReason(at address: TransportAddress) -> String? {
        // New settings may remove the cause of earlier failures.
        if let tls = host.tls { pauses.forgetAll(before: tls.reloads) }
        return pauses.pauseReason(at: address, now: host.clock.now())
    }

    /// Records input of a peer, which ends the pause of its address.
    func noteHeard(_ connection: StreamConnection, isPong: Bool) {
        if isPong { notePong(connection) }
        if connection.heard(isPong: isPong), !connection.isAccepted { pauses.succeeded(connection.remote) }
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
        // A TLS connection becomes open only when the handshake is complete.
        if connection.remote.transport == .tls, !connection.isClosed {
            connection.connected(channel)
            return beginHandshake(connection, isAccepted: false)
        }
        becomeOpen(connection, channel)
    }

    func becomeOpen(_ connection: StreamConnection, _ channel: any Channel) {
        guard connection.life.isConnecting, channel.isActive else {
            channel.close(promise: nil)
            return ended(connection, reason: "closed by the peer")
        }
        if !connection.isAccepted { host.counters.connectionsOpened &+= 1 }
        for message in connection.open(on: channel) { enqueue(message, on: connection) }
    }

    /// Fails a message that has waited longer than its patience, so that its sender can try another server; the connect continues for other
    /// messages.
    func limitWait(of message: QueuedMessage, on connection: StreamConnection) {
        guard let patience = message.patience, message.token != 0 else { return }
        let (token, shard) = (message.token, message.shard)
        let bound = NIOLoopBound((self, connection), eventLoop: host.eventLoop)
        host.eventLoop.scheduleTask(in: patience.amount) {
            let (connectionTable, connection) = bound.value
            guard connection.withdraw(token, of: shard) else { return }
            let span = "after \(patience.nanoseconds / 1_000_000) ms"
            let isSecuring = connection.life.handshakeSince != nil
            connectionTable.fail(token, shard, isSecuring ? "the TLS handshake was not over \(span)" : "no connection \(span)")
            connectionTable.host.schedulePump()
        }
    }

    func refused(_ connection: StreamConnection, _ reason: String) {
        guard !connection.isClosed else { return }
        let waiting = connection.takeWaiting()
        forget(connection)
        if !connection.isAccepted { pauses.failed(connection.remote, reason, at: host.clock.now(), using: &random) }
        host.logger.debug("connect failed", metadata: ["remote": "\(connection.remote)", "reason": "\(reason)"])
        for message in waiting {
            if let datagram = message.datagram, case .address(let address, _) = datagram.destination,
                datagrams.refusedTCP(address)
            {
                host.logger.notice(
                    "large request stays on UDP: the peer refuses TCP", metadata: ["remote": "\(address)", "reason": "\(reason)"])
            }
            turnBack(message, reason)
        }
    }

    /// Removes a connection, fails its unsent messages and reports its end to all shards.
    /// - Parameters:
    ///   - isOurs: Whether this node closed the connection.
    ///   - isDead: Whether messages written since the peer's last input count as lost.
    func ended(
        _ connection: StreamConnection, reason: String, isOurs: Bool = false, isDead: Bool = false, end: ConnectionEnd = .broken
    ) {
        guard !connection.isClosed else { return }
        if !isOurs, !connection.isAccepted, !connection.activity.wasEverHeard {
            // Accepted and closed without input, as by a load balancer without servers.
            pauses.failed(connection.remote, reason, at: host.clock.now(), using: &random)
        }
        let wasOpen = connection.life.isOpen
        let lost = connection.takeLost(isDead: isDead)
        forget(connection)
        if wasOpen { host.counters.connectionsClosed &+= 1 }
        for (token, shard) in lost { fail(token, shard, reason) }
        host.reportToAll(.closed(connection.id, end))
    }

    /// Closes a connection from this side.
    func abandon(_ connection: StreamConnection, reason: String, isDead: Bool = false, end: ConnectionEnd = .broken) {
        let channel = connection.channel
        ended(connection, reason: reason, isOurs: true, isDead: isDead, end: end)
        channel?.close(promise: nil)
    }

    /// Closes the selected open connections.
    /// - Returns: The number of closed connections.
    func close(reason: String, where isMeant: (StreamConnection) -> Bool) -> Int {
        let meant = connections.all.filter { $0.life.isOpen && isMeant($0) }
        for connection in meant { abandon(connection, reason: reason) }
        return meant.count
    }

    func forget(_ connection: StreamConnection) {
        endHandshake(connection)
        noteUnfinished(connection, 0)
        withdraw(connection)
        if let share = connection.close() { host.remoteAddresses.release(share) }
        connections.remove(connection)
    }
}
