import Dispatch
import Foundation
import PresenceGateway
import SIPCore
import Synchronization

/// Carries out the store requests of all shards on a thread of its own, in the order of arrival: no event loop waits for the disk, or for
/// another process that has locked the database.
///
/// Commits that wait are stored in one transaction, at most 64 commits or 2,000 changes at once. If it fails, each commit is tried alone and
/// has its own result; if it cannot begin, all of them fail. Commits that build on a failed one fail (`StoreSession`).
///
/// The queue is as long as the shards let it be: each has at most 8 commits in flight.
package final class StoreWorker: Sendable {
    /// Receives results of one shard in the order of its requests, on the thread of the worker.
    package typealias Reply = @Sendable ([StoreResult]) -> Void

    /// Figures of a worker.
    package struct Statistics: Hashable, Sendable {
        /// Requests without a result.
        package var waiting = 0
        /// Age of the oldest request without a result; zero if there is none.
        package var oldestWait = TimeSpan.zero
        /// Commits with a result, since the start.
        package var commits: UInt64 = 0
        /// Transactions tried for them, one for commits that were stored together; retries of single commits are not counted.
        package var transactions: UInt64 = 0
        /// Duration of the last transaction, with its wait for other processes.
        package var lastTransaction = TimeSpan.zero
    }

    private struct Entry: Sendable {
        let work: ShardRequest
        let reply: Reply
        let arrived: ContinuousClock.Instant
    }

    private struct State {
        /// Held by the thread while it runs, so that the file is free when ``stop()`` returns.
        var store: SQLiteStore?
        var waiting: [Entry] = []
        /// Number of requests that are carried out now, and arrival of the first.
        var current: (count: Int, since: ContinuousClock.Instant)?
        var isStopping = false
        var isEnded = false
        var stopped: [CheckedContinuation<Void, Never>] = []
        var statistics = Statistics()
    }

    private let state: Mutex<State>
    private let bell = DispatchSemaphore(value: 0)

    /// Starts the thread.
    /// - Parameter patience: longest wait of a transaction for another process that has locked the database, from 1 ms.
    /// - Throws: `StoreFailure` if the database cannot be used.
    package init(_ store: SQLiteStore, patience: TimeSpan = .seconds(5)) throws(StoreFailure) {
        try store.setPatience(patience)
        state = Mutex(State(store: store))
        let thread = Thread { [self] in
            serve()
            end()
        }
        thread.name = "store"
        thread.start()
    }

    /// Adds requests of a shard behind all others; after ``stop()`` they fail at once.
    /// - Parameters:
    ///   - shard: index of the shard; its requests have one order, and its commits one chain.
    ///   - reply: receives the results, possibly with those of earlier or later requests of the shard.
    package func submit(_ requests: [StoreRequest], of shard: Int, reply: @escaping Reply) {
        guard !requests.isEmpty else { return }
        let arrived = ContinuousClock.now
        let (isTaken, isFirst) = state.withLock { state in
            guard !state.isStopping else { return (false, false) }
            let isFirst = state.waiting.isEmpty
            for request in requests {
                state.waiting.append(Entry(work: ShardRequest(shard: shard, request: request), reply: reply, arrived: arrived))
            }
            return (true, isFirst)
        }
        // The thread takes all that waits before it listens for the bell again. Outside the lock, for which it would have to wait.
        if isFirst { bell.signal() }
        if !isTaken { reply(requests.map { $0.failed(StoreFailure("the store is closed")) }) }
    }

    /// Carries out all requests that wait, and ends the thread; returns when it has ended.
    package func stop() async {
        await withCheckedContinuation { continuation in
            let isEnded = state.withLock { state in
                guard !state.isEnded else { return true }
                state.isStopping = true
                state.stopped.append(continuation)
                bell.signal()
                return false
            }
            if isEnded { continuation.resume() }
        }
    }

    /// Figures of now.
    package var statistics: Statistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.waiting = state.waiting.count + (state.current?.count ?? 0)
            if let oldest = state.current?.since ?? state.waiting.first?.arrived {
                statistics.oldestWait = TimeSpan(ContinuousClock.now - oldest)
            }
            return statistics
        }
    }

    // MARK: Thread

    private func serve() {
        guard let store = state.withLock({ $0.store.take() }) else { return }
        var sessions = StoreSessions(store)
        while true {
            let (batch, isStopping) = take()
            guard !batch.isEmpty else {
                if isStopping { return }
                bell.wait()
                continue
            }
            let began = ContinuousClock.now
            let results = sessions.perform(batch.map(\.work))
            note(batch, TimeSpan(ContinuousClock.now - began))
            reply(batch, results)
        }
    }

    /// Takes the requests that are carried out next.
    private func take() -> (batch: [Entry], isStopping: Bool) {
        state.withLock { state in
            let count = StoreSessions.joinable(state.waiting.lazy.map(\.work))
            let batch = Array(state.waiting.prefix(count))
            state.waiting.removeFirst(batch.count)
            state.current = batch.first.map { (batch.count, $0.arrived) }
            return (batch, state.isStopping)
        }
    }

    private func note(_ batch: [Entry], _ duration: TimeSpan) {
        state.withLock { state in
            state.current = nil
            guard case .commit = batch[0].work.request else { return }
            state.statistics.commits += UInt64(batch.count)
            state.statistics.transactions += 1
            state.statistics.lastTransaction = duration
        }
    }

    /// Passes each shard its results in one call.
    private func reply(_ batch: [Entry], _ results: [StoreResult]) {
        if batch.count == 1 { return batch[0].reply(results) }
        var shards: [Int] = []
        var parts: [Int: (reply: Reply, results: [StoreResult])] = [:]
        for (entry, result) in zip(batch, results) {
            if parts[entry.work.shard] == nil { shards.append(entry.work.shard) }
            parts[entry.work.shard, default: (entry.reply, [])].results.append(result)
        }
        for shard in shards {
            if let part = parts[shard] { part.reply(part.results) }
        }
    }

    private func end() {
        let stopped = state.withLock { state in
            state.isEnded = true
            defer { state.stopped = [] }
            return state.stopped
        }
        for continuation in stopped { continuation.resume() }
    }
}

extension TimeSpan {
    /// The duration in whole nanoseconds.
    fileprivate init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self.init(nanoseconds: seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
