import NIOCore
import SIPCore
import Synchronization

/// Watchdog that the event loops feed: sends a keep-alive once every loop has run since the last one.
///
/// A loop that is stuck does not run, so that no keep-alive is sent and the service manager ends the process.
final class LoopWatchdog: Sendable {
    private let loops: Int
    private let seen: Mutex<Set<Int>>
    private let feed: @Sendable () -> Void

    /// - Parameters:
    ///   - loops: Number of event loops.
    ///   - feed: Sends one keep-alive; runs on an event loop.
    init(loops: Int, feed: @escaping @Sendable () -> Void) {
        self.loops = loops
        self.feed = feed
        seen = Mutex([])
    }

    /// Notes that a loop runs; the last one of a round feeds the watchdog.
    func beat(_ loop: Int) {
        let isComplete = seen.withLock { seen in
            seen.insert(loop)
            guard seen.count >= loops else { return false }
            seen.removeAll(keepingCapacity: true)
            return true
        }
        if isComplete { feed() }
    }

    /// Lets the loops beat until they end: four times within the time that the manager expects, so that two keep-alives are at most half of
    /// it apart.
    func run(on loops: [any EventLoop], within span: TimeSpan) {
        let interval = TimeAmount.nanoseconds(max(span.nanoseconds / 4, 1_000_000))
        for (index, loop) in loops.enumerated() {
            loop.scheduleRepeatedTask(initialDelay: .zero, delay: interval) { [self] _ in beat(index) }
        }
    }
}
