import PresenceGateway

/// Request of a shard.
struct ShardRequest: Sendable {
    let shard: Int
    let request: StoreRequest
}

/// Requests of all shards to one SQLite file; joins commits into transactions.
struct StoreSessions {
    /// Largest number of commits in one transaction.
    static let maximumCommits = 64
    /// Largest number of changes in one transaction of several commits.
    static let maximumChanges = 2_000

    private let store: SQLiteStore
    private var sessions: [Int: StoreSession] = [:]

    init(_ store: SQLiteStore) { self.store = store }

    /// Number of the first requests that one call of ``perform(_:)`` may carry out: a read, or commits within both limits.
    static func joinable(_ requests: some Collection<ShardRequest>) -> Int {
        var (commits, changes) = (0, 0)
        for request in requests {
            guard case .commit(_, _, let own) = request.request else { return max(1, commits) }
            changes += own.count
            if commits == maximumCommits || (commits > 0 && changes > maximumChanges) { return commits }
            commits += 1
        }
        return commits
    }

    /// Carries out a read or several commits, and returns their results in the same order.
    ///
    /// Commits are stored in one transaction. If that fails, each is tried alone, so that one commit which cannot be stored does not take
    /// others with it.
    mutating func perform(_ requests: [ShardRequest]) -> [StoreResult] {
        if requests.count > 1, let results = commitJoined(requests) { return results }
        var failure: StoreFailure?
        return requests.map { perform($0, failure: &failure) }
    }

    /// Stores all commits in one transaction; nil: each is to be tried alone.
    private mutating func commitJoined(_ requests: [ShardRequest]) -> [StoreResult]? {
        var next = sessions
        var joined: [StoreChange] = []
        var results: [StoreResult] = []
        for entry in requests {
            guard case .commit(let number, let predecessor, let changes) = entry.request else { return nil }
            guard next[entry.shard, default: StoreSession(store)].mayCommit(after: predecessor) else {
                results.append(entry.request.failed(StoreSession.predecessorFailed))
                continue
            }
            next[entry.shard, default: StoreSession(store)].noteCommitted(number)
            joined += changes
            results.append(.committed(number: number))
        }
        do throws(SQLiteStore.TransactionFailure) {
            try store.apply(joined)
        } catch {
            return error.hasBegun ? nil : requests.map { $0.request.failed(error.failure) }
        }
        sessions = next
        return results
    }

    /// - Parameter failure: why no transaction can begin; set by the first commit that cannot, and the failure of all after it, so that
    ///   they do not wait for the lock one after the other.
    private mutating func perform(_ entry: ShardRequest, failure: inout StoreFailure?) -> StoreResult {
        var session = sessions[entry.shard] ?? StoreSession(store)
        guard case .commit(let number, let predecessor, let changes) = entry.request else { return session.perform(entry.request) }
        guard session.mayCommit(after: predecessor) else { return entry.request.failed(StoreSession.predecessorFailed) }
        if let failure { return entry.request.failed(failure) }
        do throws(SQLiteStore.TransactionFailure) {
            try store.apply(changes)
        } catch {
            if !error.hasBegun { failure = error.failure }
            return entry.request.failed(error.failure)
        }
        session.noteCommitted(number)
        sessions[entry.shard] = session
        return .committed(number: number)
    }
}
