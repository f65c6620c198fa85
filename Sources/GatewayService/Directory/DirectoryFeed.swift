import LDAPDirectory
import Logging
import PresenceGateway
import Synchronization
import UserDirectory

/// Keeps the current directory up to date: a file is read with the configuration, a directory service periodically.
final class DirectoryFeed: Sendable {
    /// Called with each new state of the directory.
    typealias Use = @Sendable (DirectoryState) async -> Void

    let current: CurrentDirectory
    private let logger: Logger
    private let refresher = Mutex<(LDAPRefresher, AsyncStream<LDAPRefresher.Outcome>.Continuation)?>(nil)
    private let source = Mutex<DirectorySource?>(nil)

    init(_ current: CurrentDirectory, logger: Logger) {
        self.current = current
        self.logger = logger
    }

    /// State to use after a configuration with this source was read: the known state of the same directory service until its next read,
    /// otherwise `read`.
    func state(of source: DirectorySource?, read state: DirectoryState) -> DirectoryState {
        guard case .ldap = source, self.source.withLock({ $0 }) == source else { return state }
        return current.state
    }

    /// Follows the configured source and no other. Waits for the first read of a directory service, whether it succeeds or not; later reads
    /// arrive in the background.
    func follow(_ configuration: ProgramConfiguration, use: @escaping Use) async {
        stop()
        source.withLock { $0 = configuration.directory }
        guard case .ldap(let settings) = configuration.directory else { return }
        let (outcomes, continuation) = AsyncStream.makeStream(of: LDAPRefresher.Outcome.self)
        let started = LDAPRefresher(settings, domains: configuration.directoryDomains) { continuation.yield($0) }
        refresher.withLock { $0 = (started, continuation) }
        for await outcome in outcomes {
            await take(outcome, use: use)
            break
        }
        Task {
            for await outcome in outcomes {
                guard self.refresher.withLock({ $0?.0 === started }) else { break }
                await self.take(outcome, use: use)
            }
        }
    }

    func stop() {
        refresher.withLock { refresher in
            refresher?.0.stop()
            refresher?.1.finish()
            refresher = nil
        }
    }

    private func take(_ outcome: LDAPRefresher.Outcome, use: Use) async {
        switch outcome {
        case .success(let snapshot):
            for problem in snapshot.problems { logger.debug("directory entry left out", metadata: ["entry": "\(problem)"]) }
            logger.info(
                "directory read", metadata: ["users": "\(snapshot.directory.count)", "problems": "\(snapshot.problemCount)"])
            if current.refreshed(snapshot.directory) { await use(.known(snapshot.directory)) }
        case .failure(let failure):
            current.refreshFailed()
            logger.warning(
                "directory not read", metadata: ["reason": "\(failure)", "users": "\(current.count.map(String.init) ?? "none yet")"])
        }
    }
}
