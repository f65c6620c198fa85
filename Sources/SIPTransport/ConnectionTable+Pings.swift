import Logging
import NIOCore
import SIPCore

/// Keeps outgoing connections alive (RFC 5626 4.4.1).
///
///     open --nothing heard for 80 to 100 % of the interval--> CRLFCRLF --any octet--> open
///                                                                |
///                     10 s: of a peer that has answered a ping before: dead; of any other: not pinged again, and left open
extension ConnectionTable {
    /// Sends a ping when one is due, and closes the connection when a ping was not answered in time.
    func keepAlive(_ connection: StreamConnection, at now: NIODeadline) {
        let interval = host.options.pingInterval
        guard interval > .zero, connection.state == .open, !connection.isAccepted, connection.isPinged else { return }
        if let pinged = connection.pingSince {
            guard now - pinged >= host.options.pongTimeout.amount else { return }
            guard answersPings.contains(connection.remote) else {
                connection.isPinged = false
                connection.pingSince = nil
                return
            }
            host.counters.flowsFailed &+= 1
            host.logger.notice(
                "connection is dead: no answer to a ping",
                metadata: ["remote": "\(connection.remote)", "connection": "\(connection.id.rawValue)"])
            return abandon(connection, reason: "no answer to a ping (RFC 5626 4.4.1)", isDead: true)
        }
        if connection.pingPause == .zero { connection.pingPause = jittered(interval) }
        guard now - connection.lastHeard >= connection.pingPause.amount, let channel = connection.channel else { return }
        connection.pingSince = now
        connection.wasPinged = true
        connection.pingPause = jittered(interval)
        host.counters.pingsSent &+= 1
        channel.writeAndFlush(ByteBuffer(string: "\r\n\r\n"), promise: nil)
    }

    private func jittered(_ interval: TimeSpan) -> TimeSpan {
        TimeSpan(nanoseconds: Int64.random(in: (interval.nanoseconds / 5 * 4)...interval.nanoseconds, using: &random))
    }

    /// Records that the peer answers pings.
    func notePong(_ connection: StreamConnection) {
        guard connection.wasPinged else { return }
        connection.wasPinged = false
        if answersPings.count >= 4_096 { answersPings.removeAll() }
        answersPings.insert(connection.remote)
    }
}
