import SIPCore
import SIPEvents

/// What the end of a connection leaves to be done. A partner that hangs up with tens of thousands of dialogs is no reason for others to
/// wait: a part is done in each turn, and messages of others come in between.
extension Gateway {
    enum Loss {
        /// What becomes of a request that was on its way there.
        case request(TransactionAction)
        /// A dialog that lives on that connection alone, by our tag.
        case dialog(String, ConnectionID)
    }

    /// So many are done in one turn: some milliseconds.
    static let lossesPerTurn = 64
    /// From the beginning of one turn to the next; longer than a turn takes, for what is due already is done before sockets are read.
    private static let lossPause = TimeSpan.milliseconds(20)

    /// A connection ended: dialogs that are reached over it alone wait for their endpoints, and so does what these published for as long as
    /// they are there.
    /// - Parameter actions: of the transactions that it takes with it.
    func connectionClosed(_ connection: ConnectionID, _ end: ConnectionEnd, _ actions: [TransactionAction], at now: Instant) {
        let tags = (dialogsOfConnection.removeValue(forKey: connection) ?? []).sorted()
        let isBusy = !losses.isEmpty
        losses += actions.map { .request($0) }
        losses += tags.map { .dialog($0, connection) }
        if !isBusy { workOffLosses(at: now) }
        endpointsClosed(connection, at: now)
        homeDialogsLost(connection, at: now)
        bindingsLost(connection, at: now)
        legsLost(connection, end, at: now)
    }

    func workOffLosses(at now: Instant) {
        let part = losses.prefix(Self.lossesPerTurn)
        losses = losses.dropFirst(part.count)
        if losses.isEmpty { losses = [] }
        wakes.set(.losses, at: losses.isEmpty ? nil : now + Self.lossPause)
        for loss in part {
            switch loss {
            case .request(let action):
                perform([action], at: now)
            case .dialog(let tag, let connection):
                // Meanwhile it may have moved to another connection.
                if let watcher = dialogs[tag] { connectionLost(connection, of: watcher, at: now) }
            }
        }
    }
}
