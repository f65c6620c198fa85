import NIOCore
import SIPCore

/// Ends connections with ended input, because the input cannot be framed or the peer closed its sending half: received requests are
/// answered first.
///
///     open --input is over--> answering --answers written--> flushed --end of the peer's stream--> closed
///                                 \------------- linger timeout --------------^
///
/// When the peer has closed its sending half, the state goes from answering directly to closed.
extension ConnectionTable {
    func endInput(_ connection: StreamConnection, reason: String) {
        guard connection.endInput() else { return }
        withdraw(connection)
        let bound = NIOLoopBound((self, connection), eventLoop: host.eventLoop)
        host.eventLoop.scheduleTask(in: host.options.lingerTimeout.amount) {
            let (connectionTable, connection) = bound.value
            connectionTable.abandon(connection, reason: reason, end: connection.life.isInputClosed ? .byPeer : .broken)
        }
        // Runs after the responses of this tick have been written.
        host.schedulePump()
        host.eventLoop.execute {
            let (connectionTable, connection) = bound.value
            connectionTable.endIfAnswered(connection)
        }
    }

    /// Closes the sending half once all received requests have been answered and written.
    func endIfAnswered(_ connection: StreamConnection) {
        guard connection.isAnswered, let channel = connection.channel else { return }
        guard !connection.life.isInputClosed else { return abandon(connection, reason: "closed by the peer", end: .byPeer) }
        // Close only the sending half: closing with unread input would reset the connection and lose the responses.
        connection.flushed()
        channel.close(mode: .output).assumeIsolated().whenFailure { _ in self.abandon(connection, reason: "closed by the peer") }
    }

    /// Handles the end of the peer's sending half.
    func inputClosed(_ connection: StreamConnection) {
        connection.inputClosed()
        endInput(connection, reason: "closed by the peer")
        if connection.life.isFlushed { abandon(connection, reason: "closed by the peer", end: .byPeer) }
    }

    /// Stops using the connection for new requests to its address.
    func withdraw(_ connection: StreamConnection) {
        if connection.isAccepted, connection.peer != nil { host.reusable.remove(connection.id) }
        connections.withdraw(connection)
    }
}

/// Classifies a framed message by its start line.
enum SIPStartLine {
    /// Whether the message is a request that requires a response: all except ACK and BENOTIFY (MS-SIP 3.7).
    static func wantsResponse(_ message: [UInt8]) -> Bool {
        !(message.starts(with: "SIP/2.0 ".utf8) || message.starts(with: "ACK ".utf8) || message.starts(with: "BENOTIFY ".utf8))
    }

    static func isFinalResponse(_ message: [UInt8]) -> Bool {
        message.starts(with: "SIP/2.0 ".utf8) && message.count > 8 && message[8] > 0x31
    }
}
