import NIOCore
import SIPCore

/// How a connection ends whose input is over, because it cannot be framed or because the peer closed its sending half: what was taken is
/// answered first.
///
///     open --input is over--> answering --answers written--> flushed --end of the peer's stream--> closed
///                                 \------------- linger timeout --------------^
///
/// A connection whose peer has closed its sending half goes from answering to closed.
extension Wires {
    func endInput(_ connection: StreamConnection, reason: String) {
        guard connection.state == .open, connection.ending == nil else { return }
        connection.ending = .answering
        withdraw(connection)
        let bound = NIOLoopBound((self, connection), eventLoop: host.eventLoop)
        host.eventLoop.scheduleTask(in: host.options.lingerTimeout.amount) {
            let (wires, connection) = bound.value
            wires.abandon(connection, reason: reason)
        }
        // After this tick's answers have been written.
        host.schedulePump()
        host.eventLoop.execute {
            let (wires, connection) = bound.value
            wires.endIfAnswered(connection)
        }
    }

    /// Ends our side of the stream, once everything that was taken has been answered and written.
    func endIfAnswered(_ connection: StreamConnection) {
        guard connection.state == .open, connection.ending == .answering, connection.unanswered == 0, connection.queuedBytes == 0,
            let channel = connection.channel
        else { return }
        guard !connection.isInputClosed else { return abandon(connection, reason: "closed by the peer") }
        // Only our half: closing with octets unread would reset the connection, and the answers with it.
        connection.ending = .flushed
        channel.close(mode: .output).assumeIsolated().whenFailure { _ in self.abandon(connection, reason: "closed by the peer") }
    }

    /// The peer closed its sending half.
    func inputClosed(_ connection: StreamConnection) {
        connection.isInputClosed = true
        endInput(connection, reason: "closed by the peer")
        if connection.ending == .flushed { abandon(connection, reason: "closed by the peer") }
    }

    /// No new request goes over the connection from now on.
    func withdraw(_ connection: StreamConnection) {
        if connection.isAccepted, connection.peer != nil { host.reusable.remove(connection.id) }
        if byAddress[connection.remote] === connection { byAddress[connection.remote] = nil }
    }
}

/// What the start line alone says of a framed message.
enum SIPStartLine {
    /// Whether the message is a request that is answered: all but ACK and BENOTIFY (MS-SIP 3.7) are.
    static func wantsResponse(_ message: [UInt8]) -> Bool {
        !(message.starts(with: "SIP/2.0 ".utf8) || message.starts(with: "ACK ".utf8) || message.starts(with: "BENOTIFY ".utf8))
    }

    static func isFinalResponse(_ message: [UInt8]) -> Bool {
        message.starts(with: "SIP/2.0 ".utf8) && message.count > 8 && message[8] > 0x31
    }
}
