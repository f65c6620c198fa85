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
    ///   - manager: How a service manager wants to be notified; nil without one.
    ///   - read: Reads the configuration, at the start and for each reload.
    ///   - ready: Called once with the addresses of all listeners, when the gateway accepts traffic.
    /// - Throws: `ServiceFailure` when the gateway cannot start.
    package static func run(
        logger: Logger, signals: @autoclosure () -> AsyncStream<ProcessSignal> = ProcessSignals.stream(), drain: TimeSpan,
        manager: ServiceManagerEnvironment? = nil,
        reading read: () throws(ServiceFailure) -> ProgramConfiguration, ready: (_ addresses: [String]) -> Void
    ) async throws {
        let reporter = ServiceReporter(manager, logger: logger)
        reporter.send(.starting("Starting: reading the configuration and the stored state."))
        let gateway: RunningGateway
        let requests: AsyncStream<ProcessSignal>
        var serving: String
        do {
            let configuration = try read()
            FileDescriptors.raiseLimit()
            // Handlers are installed before `ready` is called, so that no signal sent on it meets the default action.
            requests = signals()
            gateway = try await start(configuration, logger: logger)
            serving = gateway.sentence(domains: configuration.domains.count)
        } catch {
            let reason = (error as? ServiceFailure)?.lines.first ?? "\(error)"
            reporter.send(.starting("Not started: \(reason)"))
            throw error
        }
        ready(gateway.addresses)
        reporter.send(.ready(serving))
        reporter.feedWatchdog(on: gateway.server.shards.map(\.eventLoop))
        for await signal in requests {
            guard signal == .reload else { break }
            reporter.send(.reloading(microseconds: ServiceNotifier.monotonicMicroseconds(), "Reloading the configuration."))
            var problem = ""
            do throws(ServiceFailure) {
                let configuration = try read()
                try await gateway.reload(configuration)
                serving = gateway.sentence(domains: configuration.domains.count)
            } catch {
                for line in error.lines { logger.error("configuration not reloaded", metadata: ["problem": "\(line)"]) }
                problem = " The changed configuration is not in use: \(error.lines.first ?? "it cannot be read")"
            }
            reporter.send(.ready(serving + problem))
        }
        reporter.send(.stopping("Stopping: ending or storing the dialogs."))
        await gateway.stop(drain: drain)
    }

    /// Sentence about the running gateway for the status of the service.
    private func sentence(domains: Int) -> String {
        "Serving \(domains) domain\(domains == 1 ? "" : "s") on \(addresses.joined(separator: ", "))."
    }
}
