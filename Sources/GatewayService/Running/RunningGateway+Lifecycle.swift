import Logging
import SIPCore
import SIPTransport

extension RunningGateway {
    /// Runs a gateway until it is asked to stop: starts it, reloads the configuration on request, and stops it.
    ///
    /// A configuration that cannot be read or used at a reload is logged, and the former one stays in use.
    /// - Parameters:
    ///   - signals: Requests to reload and to stop; the end of the stream stops the gateway too. Created after the first read of the
    ///     configuration and before the listeners open. By default the signals of the process.
    ///   - drain: Longest wait for dialogs to end when the gateway stops.
    ///   - read: Reads the configuration, at the start and for each reload.
    ///   - ready: Called once with the addresses of all listeners, when the gateway accepts traffic.
    /// - Throws: `ServiceFailure` when the gateway cannot start.
    package static func run(
        logger: Logger, signals: @autoclosure () -> AsyncStream<ProcessSignal> = ProcessSignals.stream(), drain: TimeSpan,
        reading read: () throws(ServiceFailure) -> ProgramConfiguration, ready: (_ addresses: [String]) -> Void
    ) async throws {
        let configuration = try read()
        FileDescriptors.raiseLimit()
        // Handlers are installed before `ready` is called, so that no signal sent on it meets the default action.
        let signals = signals()
        let gateway = try await start(configuration, logger: logger)
        ready(gateway.addresses)
        for await signal in signals {
            guard signal == .reload else { break }
            do throws(ServiceFailure) {
                try await gateway.reload(try read())
            } catch {
                for line in error.lines { logger.error("configuration not reloaded", metadata: ["problem": "\(line)"]) }
            }
        }
        await gateway.stop(drain: drain)
    }
}
