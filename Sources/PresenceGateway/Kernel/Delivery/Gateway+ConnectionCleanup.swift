import SIPCore
import SIPEvents

/// Cleanup after a connection closes, in batches, so that the loss of tens of thousands of dialogs does not block the loop.
extension Gateway {
    enum ConnectionCleanup {
        /// Outcome of a request that was sent over the connection.
        case request(TransactionAction)
        /// Dialog that is reached over the connection only, by local tag.
        case dialog(String, ConnectionID)
    }

    /// Items per turn, which takes some milliseconds.
    static let cleanupsPerTurn = 64
    /// From the start of one turn to the next; longer than a turn, because due timers run before sockets are read.
    private static let cleanupPause = TimeSpan.milliseconds(20)

    /// Handles the end of a connection: dialogs reached over it only, and registrations, wait for their endpoints to come back.
    /// - Parameter actions: outcomes of the transactions over the connection.
    func connectionClosed(_ connection: ConnectionID, _ end: ConnectionEnd, _ actions: [TransactionAction], at now: Instant) {
        let tags = (dialogsOfConnection.removeValue(forKey: connection) ?? []).sorted()
        let isBusy = !connectionCleanup.isEmpty
        connectionCleanup += actions.map { .request($0) }
        connectionCleanup += tags.map { .dialog($0, connection) }
        if !isBusy { continueConnectionCleanup(at: now) }
        endpointsClosed(connection, at: now)
        homeConnectionEnded(connection, at: now)
        registrationConnectionEnded(connection, at: now)
        upstreamConnectionEnded(connection, end, at: now)
    }

    func continueConnectionCleanup(at now: Instant) {
        let part = connectionCleanup.prefix(Self.cleanupsPerTurn)
        connectionCleanup = connectionCleanup.dropFirst(part.count)
        if connectionCleanup.isEmpty { connectionCleanup = [] }
        timers.set(KernelTimer.connectionCleanup, at: connectionCleanup.isEmpty ? nil : now + Self.cleanupPause)
        for cleanup in part {
            switch cleanup {
            case .request(let action):
                perform([action], at: now)
            case .dialog(let tag, let connection):
                // The dialog may have moved to another connection.
                if let watcher = dialogs[tag] { connectionLost(connection, of: watcher, at: now) }
            }
        }
    }
}
