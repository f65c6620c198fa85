import Logging
import NIOCore

/// Notifies the service manager where there is one; failures are logged and change nothing.
struct ServiceReporter: Sendable {
    private let notifier: ServiceNotifier?
    private let logger: Logger

    init(_ manager: ServiceManagerEnvironment?, logger: Logger) {
        self.logger = logger
        do throws(ServiceFailure) {
            notifier = if let manager { try ServiceNotifier(manager) } else { nil }
        } catch {
            notifier = nil
            logger.warning("service manager is not notified", metadata: ["problem": "\(error.lines.joined(separator: "; "))"])
        }
    }

    func send(_ state: ServiceState) {
        guard let notifier else { return }
        do throws(ServiceFailure) {
            try notifier.send(state)
        } catch {
            logger.warning("service manager is not notified", metadata: ["problem": "\(error.lines.joined(separator: "; "))"])
        }
    }

    /// Sends keep-alives while all loops run, if the manager expects them.
    func feedWatchdog(on loops: [any EventLoop]) {
        guard let notifier, let watchdog = notifier.watchdog else { return }
        LoopWatchdog(loops: loops.count) { notifier.sendAlive() }.run(on: loops, within: watchdog)
    }
}
