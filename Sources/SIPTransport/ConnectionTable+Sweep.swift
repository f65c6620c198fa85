import NIOCore
import SIPCore

/// Closes connections without progress.
extension ConnectionTable {
    /// Starts the periodic sweep: one timer per loop instead of one per connection.
    func startIdleSweep() {
        let timeout = host.options.idleTimeout
        let options = host.options
        var shortest = min(timeout, options.connectTimeout, host.tls?.settings.handshakeTimeout ?? timeout)
        if options.pingInterval > .zero { shortest = min(shortest, options.pingInterval, options.pongTimeout) }
        let interval = TimeSpan(nanoseconds: min(max(shortest.nanoseconds / 4, 50_000_000), 5_000_000_000)).amount
        let bound = NIOLoopBound(self, eventLoop: host.eventLoop)
        host.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { task in
            let connectionTable = bound.value
            if connectionTable.isClosing { return task.cancel() }
            connectionTable.closeOld(at: .now())
            connectionTable.sweepHandshakes(at: .now())
            connectionTable.checkPeers(at: HostClock.wall())
        }
    }

    private func closeOld(at now: NIODeadline) {
        let oldest = now - host.options.idleTimeout.amount
        let oldestMessage = now - host.options.messageTimeout.amount
        // The time limit of a connect includes name resolution.
        let oldestConnect = now - host.options.connectTimeout.amount
        for connection in connections.all {
            guard connection.life.isOpen else {
                guard connection.channel == nil, connection.life.since < oldestConnect else { continue }
                refused(connection, "no connection after \(host.options.connectTimeout.nanoseconds / 1_000_000) ms")
                continue
            }
            let isStuck = connection.input.insideSince.map { $0 < oldestMessage } ?? false
            guard isStuck || connection.activity.lastActivity < oldest else {
                keepAlive(connection, at: now)
                continue
            }
            host.counters.idleCloses &+= 1
            abandon(connection, reason: isStuck ? "a message that never ended" : "idle", end: isStuck ? .broken : .idle)
        }
    }
}
