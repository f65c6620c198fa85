/// Work of a shard for its store, carried out in order.
package enum StoreRequest: Hashable, Sendable {
    /// Stores all of the changes or none.
    /// - Parameters:
    ///   - number: greater than all earlier numbers of the shard.
    ///   - predecessor: number of the commit on which this one builds, and without which it fails; nil: none.
    case commit(number: UInt64, after: UInt64?, [StoreChange])
    /// Reads the records with these keys.
    case read(number: UInt64, [StoreKey])
}

/// Outcome of a ``StoreRequest``, in the order of the requests.
package enum StoreResult: Hashable, Sendable {
    /// The changes are stored.
    case committed(number: UInt64)
    /// The changes are not stored, or it is unknown whether they are.
    case failed(number: UInt64, StoreFailure)
    /// The stored ones of the requested records.
    case read(number: UInt64, Result<[StoreRecord], StoreFailure>)
}

/// Requests of one shard to its store: after a failed commit those fail that build on it.
package struct StoreSession {
    private let store: any GatewayStore
    /// Number of the last stored commit.
    private var last: UInt64?

    /// Creates a session without earlier commits.
    package init(_ store: any GatewayStore) { self.store = store }

    /// Carries out a request.
    package mutating func perform(_ request: StoreRequest) -> StoreResult {
        do throws(StoreFailure) {
            switch request {
            case .commit(let number, let predecessor, let changes):
                guard mayCommit(after: predecessor) else { throw Self.predecessorFailed }
                try store.commit(changes)
                noteCommitted(number)
                return .committed(number: number)
            case .read(let number, let keys):
                return .read(number: number, .success(try store.load(keys)))
            }
        } catch {
            return request.failed(error)
        }
    }

    /// Whether the commit on which another one builds is stored.
    package func mayCommit(after predecessor: UInt64?) -> Bool { predecessor == nil || predecessor == last }

    /// Notes a stored commit.
    package mutating func noteCommitted(_ number: UInt64) { last = number }

    /// Failure of a commit that builds on a failed one.
    package static let predecessorFailed = StoreFailure("an earlier commit on which this one builds failed")
}

extension StoreRequest {
    /// The result of the request if the store fails.
    package func failed(_ failure: StoreFailure) -> StoreResult {
        switch self {
        case .commit(let number, _, _): .failed(number: number, failure)
        case .read(let number, _): .read(number: number, .failure(failure))
        }
    }
}
