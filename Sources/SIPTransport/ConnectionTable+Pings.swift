import Logging
import NIOCore
import SIPCore

/// Keeps outgoing connections alive, as ``PeerActivity`` decides.
extension ConnectionTable {
    /// Sends a ping when one is due, and closes the connection when a ping was not answered in time.
    func keepAlive(_ connection: StreamConnection, at now: NIODeadline) {
        let interval = host.options.pingInterval
        guard interval > .zero, connection.life.isOpen, !connection.isAccepted else { return }
        let step = connection.keepAlive(
            at: now, pongTimeout: host.options.pongTimeout, answersPings: answersPings.contains(connection.remote),
            pause: { jittered(interval) })
        switch step {
        case .nothing: break
        case .ping:
            host.counters.pingsSent &+= 1
            connection.channel?.writeAndFlush(ByteBuffer(string: "\r\n\r\n"), promise: nil)
        case .dead:
            host.counters.flowsFailed &+= 1
            host.logger.notice(
                "connection is dead: no answer to a ping",
                metadata: ["remote": "\(connection.remote)", "connection": "\(connection.id.rawValue)"])
            abandon(connection, reason: "no answer to a ping (RFC 5626 4.4.1)", isDead: true)
        }
    }

    private func jittered(_ interval: TimeSpan) -> TimeSpan {
        TimeSpan(nanoseconds: Int64.random(in: (interval.nanoseconds / 5 * 4)...interval.nanoseconds, using: &random))
    }

    /// Records that the peer answers pings.
    func notePong(_ connection: StreamConnection) {
        guard connection.pong() else { return }
        if answersPings.count >= 4_096 { answersPings.removeAll() }
        answersPings.insert(connection.remote)
    }
}
