import SIPCore

/// Cleanup after a connection closes, in batches, so that the loss of tens of thousands of dialogs does not block the loop.
extension GatewayKernel {
    enum ConnectionCleanup {
        /// Outcome of a request that was sent over the connection.
        case request(TransactionAction)
        /// Record that is reached over the connection only.
        case record(Ticket, ConnectionID)
    }

    /// Items per turn, which takes some milliseconds.
    static let cleanupsPerTurn = 64
    /// From the start of one turn to the next; longer than a turn, because due timers run before sockets are read.
    private static let cleanupPause = TimeSpan.milliseconds(20)

    /// Handles the end of a connection.
    /// - Parameter actions: outcomes of the transactions over the connection.
    func connectionClosed(_ connection: ConnectionID, _ end: ConnectionEnd, _ actions: [TransactionAction], at now: Instant) {
        let records = host.takeRecords(over: connection)
        let isBusy = !connectionCleanup.isEmpty
        connectionCleanup += actions.map { .request($0) }
        connectionCleanup += records.map { .record($0, connection) }
        if !isBusy { continueConnectionCleanup(at: now) }
        host.connectionClosed(connection, end, at: now)
    }

    func continueConnectionCleanup(at now: Instant) {
        let part = connectionCleanup.prefix(Self.cleanupsPerTurn)
        connectionCleanup = connectionCleanup.dropFirst(part.count)
        if connectionCleanup.isEmpty { connectionCleanup = [] }
        timers.set(KernelTimer.connectionCleanup, at: connectionCleanup.isEmpty ? nil : now + Self.cleanupPause)
        for cleanup in part {
            switch cleanup {
            case .request(let action): perform([action], at: now)
            case .record(let ticket, let connection): client(of: ticket)?.connectionLost(connection, of: ticket, at: now)
            }
        }
    }
}
