import Dispatch
import Glibc

/// The signals that `serve` understands.
enum ProcessSignal: Hashable, Sendable {
    /// SIGTERM or SIGINT: end cleanly.
    case stop
    /// SIGHUP: read the configuration anew.
    case reload
}

enum ProcessSignals {
    /// Every signal from now on; the process no longer dies of them.
    static func stream() -> AsyncStream<ProcessSignal> {
        AsyncStream { continuation in
            let sources = [(SIGTERM, ProcessSignal.stop), (SIGINT, .stop), (SIGHUP, .reload)].map { number, meaning in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler { @Sendable in continuation.yield(meaning) }
                source.resume()
                return source
            }
            let held = HeldSources(sources)
            continuation.onTermination = { _ in held.cancel() }
        }
    }

    /// Keeps the sources alive as long as the stream.
    private final class HeldSources: @unchecked Sendable {
        private let sources: [any DispatchSourceSignal]
        init(_ sources: [any DispatchSourceSignal]) { self.sources = sources }
        func cancel() { sources.forEach { $0.cancel() } }
    }
}
