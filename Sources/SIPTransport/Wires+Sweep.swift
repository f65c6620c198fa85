import NIOCore
import SIPCore

/// What is closed because nothing happens any more.
extension Wires {
    /// One sweep per loop instead of one timer per connection.
    func startIdleSweep() {
        let timeout = host.options.idleTimeout
        let shortest = min(timeout, host.tls?.settings.handshakeTimeout ?? timeout)
        let interval = TimeSpan(nanoseconds: min(max(shortest.nanoseconds / 4, 50_000_000), 5_000_000_000)).amount
        let bound = NIOLoopBound(self, eventLoop: host.eventLoop)
        host.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { task in
            let wires = bound.value
            if wires.isClosing { return task.cancel() }
            wires.closeIdle(at: .now())
            wires.sweepHandshakes(at: .now())
        }
    }

    private func closeIdle(at now: NIODeadline) {
        let oldest = now - host.options.idleTimeout.amount
        let oldestMessage = now - host.options.messageTimeout.amount
        for connection in connections.values where connection.state == .open {
            let isStuck = connection.insideSince.map { $0 < oldestMessage } ?? false
            guard isStuck || connection.lastActivity < oldest else { continue }
            host.counters.idleCloses &+= 1
            abandon(connection, reason: isStuck ? "a message that never ended" : "idle")
        }
    }
}
