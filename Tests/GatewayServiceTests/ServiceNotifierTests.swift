import Dispatch
import Logging
import NIOCore
import NIOPosix
import NotificationSocket
import SIPCore
import Synchronization
import Testing

@testable import GatewayService

/// Notifications to a service manager, on sockets of the tests' own.
@Suite(.timeLimit(.minutes(5))) struct ServiceNotifierTests {
    @Test("sd_watchdog_enabled(3): the variables are read for the process that they name, and without NOTIFY_SOCKET there is no manager")
    func environment() {
        func read(_ variables: [String: String]) -> ServiceManagerEnvironment? {
            ServiceManagerEnvironment(processID: 42) { variables[$0] }
        }
        #expect(read([:]) == nil)
        #expect(read(["NOTIFY_SOCKET": "", "WATCHDOG_USEC": "1000"]) == nil)
        #expect(read(["WATCHDOG_USEC": "1000"]) == nil)
        #expect(read(["NOTIFY_SOCKET": "/run/n"]) == ServiceManagerEnvironment(socket: "/run/n"))
        let watched = ServiceManagerEnvironment(socket: "/run/n", watchdog: .seconds(30))
        #expect(read(["NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "30000000"]) == watched)
        #expect(read(["NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "42"]) == watched)
        #expect(read(["NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "43"])?.watchdog == nil)
        for refused in ["0", "-1", "soon", "9223372036854775807", ""] {
            #expect(read(["NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": refused])?.watchdog == nil, "\(refused)")
        }
    }

    @Test("sd_notify(3): a state is one datagram of assignments, to a path and to an abstract name", arguments: [false, true])
    func states(isAbstract: Bool) throws {
        let manager = try NotificationSocket(isAbstract: isAbstract)
        let notifier = try ServiceNotifier(ServiceManagerEnvironment(socket: manager.name))
        try notifier.send(.starting("a"))
        try notifier.send(.ready("Serving\nSTOPPING=1"))
        try notifier.send(.reloading(microseconds: 7, "b"))
        try notifier.send(.stopping(String(repeating: "c", count: 5_000)))
        notifier.sendAlive()
        #expect(manager.take() == ["STATUS": "a"])
        #expect(manager.take() == ["READY": "1", "STATUS": "Serving STOPPING=1"], "a line break would be another assignment")
        #expect(manager.take() == ["RELOADING": "1", "MONOTONIC_USEC": "7", "STATUS": "b"])
        #expect(manager.take() == ["STOPPING": "1", "STATUS": String(repeating: "c", count: 500)])
        #expect(manager.take() == ["WATCHDOG": "1"])
        #expect(manager.take() == nil)
    }

    @Test("an address that cannot be used is refused, and a manager that is gone fails one notification")
    func addresses() throws {
        for name in ["relative", "/", "@", "vsock:2:1", "/" + String(repeating: "n", count: 200), "@" + String(repeating: "n", count: 108)]
        {
            #expect(throws: ServiceFailure.self, "\(name)") { try ServiceNotifier(ServiceManagerEnvironment(socket: name)) }
        }
        #expect(throws: Never.self) {
            try ServiceNotifier(ServiceManagerEnvironment(socket: "@" + String(repeating: "n", count: 107)))
        }
        var manager = try NotificationSocket() as NotificationSocket?
        let notifier = try ServiceNotifier(ServiceManagerEnvironment(socket: try #require(manager).name))
        manager = nil
        #expect(throws: ServiceFailure.self) { try notifier.send(.ready("")) }
        notifier.sendAlive()
    }

    @Test("the watchdog is fed by all loops together: one that is stuck ends the keep-alives, until it runs again")
    func stuckLoop() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let loops = group.makeIterator().map { $0 as any EventLoop }
        let fed = Atomic(0)
        func count() -> Int { fed.load(ordering: .sequentiallyConsistent) }
        func isFed(beyond known: Int) async throws -> Bool {
            for _ in 0..<4_000 where count() <= known { try await Task.sleep(for: .milliseconds(5)) }
            return count() > known
        }
        try await withWatchdog(on: loops, group) {
            fed.add(1, ordering: .sequentiallyConsistent)
        } during: {
            #expect(try await isFed(beyond: 2))
            let (stuck, isStuck) = AsyncStream.makeStream(of: Void.self)
            let release = DispatchSemaphore(value: 0)
            loops[1].execute {
                isStuck.yield()
                release.wait()
            }
            for await _ in stuck { break }
            let before = count()
            // The other loop goes on: 50 pauses of its own are far more than one beat.
            for _ in 0..<50 { try await loops[0].scheduleTask(in: .milliseconds(2)) {}.futureResult.get() }
            #expect(count() - before <= 1, "at most the round that was complete but for the other loop")
            let after = count()
            release.signal()
            #expect(try await isFed(beyond: after + 2))
        }
    }

    /// Runs a watchdog with the shortest interval on the loops, and ends the loops.
    private func withWatchdog(
        on loops: [any EventLoop], _ group: MultiThreadedEventLoopGroup, feed: @escaping @Sendable () -> Void,
        during body: () async throws -> Void
    ) async throws {
        LoopWatchdog(loops: loops.count, feed: feed).run(on: loops, within: .milliseconds(4))
        do {
            try await body()
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
        try await group.shutdownGracefully()
    }

    private static func configuration(_ partner: String) -> String {
        """
        node: { name: test.example.net, shards: 2 }
        listen: [ { address: "tcp:127.0.0.1:0", authentication: none } ]
        domains: { \(partner): { side: enterprise, route: "udp:127.0.0.1:9" } }
        """
    }

    private static func read(_ text: String) throws(ServiceFailure) -> ProgramConfiguration {
        do { return try ConfigurationReader.read(text, file: "isthmus.yaml") } catch { throw ServiceFailure(error.lines) }
    }

    @Test("a gateway notifies its manager: starting, ready, alive, reloading and ready again, also with a mistake, and stopping")
    func lifecycle() async throws {
        let manager = try NotificationSocket()
        let file = Mutex(Self.configuration("fabrikam.com"))
        let (signals, signal) = AsyncStream.makeStream(of: ProcessSignal.self)
        let environment = ServiceManagerEnvironment(socket: manager.name, watchdog: .milliseconds(200))
        let running = Task {
            try await RunningGateway.run(
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, signals: signals, drain: .seconds(1), manager: environment,
                reading: { () throws(ServiceFailure) in
                    try Self.read(file.withLock { $0 })
                }, ready: { _ in })
        }
        defer { signal.finish() }
        #expect(try await manager.next()["STATUS"]?.hasPrefix("Starting: ") == true)
        let ready = try await manager.next()
        #expect(ready["READY"] == "1" && ready["STATUS"]?.hasPrefix("Serving 1 domain on tcp:127.0.0.1:") == true, "\(ready)")
        for _ in 0..<3 { _ = try await manager.next { $0 == ["WATCHDOG": "1"] } }

        let before = ServiceNotifier.monotonicMicroseconds()
        file.withLock { $0 = Self.configuration("contoso.com") + "\n  # changed" }
        signal.yield(.reload)
        let reloading = try await manager.next()
        #expect(reloading["RELOADING"] == "1" && (reloading["MONOTONIC_USEC"].flatMap { UInt64($0) } ?? 0) >= before, "\(reloading)")
        #expect(try await manager.next() == ready)

        file.withLock { $0 = "listen: []\n" }
        signal.yield(.reload)
        #expect(try await manager.next()["RELOADING"] == "1")
        let refused = try await manager.next()
        #expect(refused["READY"] == "1" && refused["STATUS"]?.contains("is not in use: isthmus.yaml:1:") == true, "\(refused)")

        signal.yield(.stop)
        #expect(try await manager.next()["STOPPING"] == "1")
        try await running.value
    }

    @Test("a gateway that cannot start says why, and is not ready") func notStarted() async throws {
        let manager = try NotificationSocket()
        let environment = ServiceManagerEnvironment(socket: manager.name)
        await #expect(throws: ServiceFailure.self) {
            try await RunningGateway.run(
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, signals: AsyncStream { $0.finish() }, drain: .zero,
                manager: environment, reading: { () throws(ServiceFailure) in throw ServiceFailure("isthmus.yaml:3: no such key") },
                ready: { _ in Issue.record("not ready without a configuration") })
        }
        #expect(try await manager.next()["STATUS"]?.hasPrefix("Starting: ") == true)
        #expect(try await manager.next() == ["STATUS": "Not started: isthmus.yaml:3: no such key"])
        #expect(manager.take() == nil)
    }

    @Test("a manager that cannot be notified changes nothing: the gateway starts and stops") func unusable() async throws {
        for name in ["relative", "/no/such/folder/socket"] {
            let (signals, signal) = AsyncStream.makeStream(of: ProcessSignal.self)
            try await RunningGateway.run(
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, signals: signals, drain: .zero,
                manager: ServiceManagerEnvironment(socket: name, watchdog: .milliseconds(8)),
                reading: { () throws(ServiceFailure) in
                    try Self.read(Self.configuration("fabrikam.com"))
                }, ready: { _ in signal.yield(.stop) })
        }
    }
}
