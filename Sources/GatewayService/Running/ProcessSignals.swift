import Dispatch
import Glibc

/// Signal that `serve` handles.
package enum ProcessSignal: Hashable, Sendable {
    /// SIGTERM or SIGINT: stop.
    case stop
    /// SIGHUP: reload the configuration.
    case reload
}

package enum ProcessSignals {
    /// Stream of all signals from now on; their default action is disabled.
    package static func stream() -> AsyncStream<ProcessSignal> {
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

    /// Keeps the signal sources alive as long as the stream.
    private final class HeldSources: @unchecked Sendable {
        private let sources: [any DispatchSourceSignal]
        init(_ sources: [any DispatchSourceSignal]) { self.sources = sources }
        func cancel() { sources.forEach { $0.cancel() } }
    }
}
