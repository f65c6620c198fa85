import Administration
import HTTPTransport
import NIOCore
import NIOPosix
import PresenceGateway
import SIPCore
import SIPTransport
import Storage
import Synchronization

/// Status pages of the administration listener: figures and domain names, but no user names.
final class StatusPages: Sendable {
    let nodeName: String
    let server: SIPServer
    let startedAt: Instant
    private let directory: CurrentDirectory
    private let tls: TLSService?
    private let store: StoreWorker?
    private let documents: HTTPServer?
    let partners: PartnerStatus
    private let isStopping = Atomic(false)

    init(
        nodeName: String, server: SIPServer, directory: CurrentDirectory, partners: PartnerStatus, tls: TLSService? = nil,
        store: StoreWorker? = nil, documents: HTTPServer? = nil
    ) {
        self.documents = documents
        self.partners = partners
        self.directory = directory
        self.tls = tls
        self.store = store
        self.nodeName = nodeName
        self.server = server
        startedAt = server.clock.now()
    }

    func beginStopping() {
        isStopping.store(true, ordering: .relaxed)
    }

    func health() async -> HealthReport {
        let counts = await gatewayNumbers().counts
        var status = HealthReport.Status.ok
        if counts.storesFailing > 0 { status = .storeFailing }
        if isStopping.load(ordering: .relaxed) { status = .stopping }
        var named: [String: Int] = [:]
        for (name, _, path) in Self.gauges { named[name] = counts[keyPath: path] }
        return HealthReport(
            status: status, reasons: reasons(counts), node: nodeName, version: GatewayVersion.current,
            uptimeSeconds: (server.clock.now() - startedAt).seconds, listeners: server.listeners.map(\.description), counts: named,
            partners: PartnerRow.shown(await partners.rows()).map(\.health))
    }

    /// Why the node accepts no new work.
    private func reasons(_ counts: GatewayCounts) -> [String] {
        var reasons: [String] = []
        if isStopping.load(ordering: .relaxed) { reasons.append("stopping: dialogs are ended or stored") }
        if counts.storesFailing > 0 { reasons.append("store: the last commit failed") }
        if counts.overloaded > 0 {
            reasons.append("overload: new work is refused on \(counts.overloaded) of \(server.shards.count) shards")
        }
        if FileDescriptors.areScarce {
            reasons.append(
                "descriptors: \(FileDescriptors.limit) file descriptors less the reserve are in use, so no connection is accepted")
        }
        return reasons
    }

    /// Time within which an event loop must turn to count as alive.
    private static let patience = TimeAmount.seconds(5)

    /// Whether every event loop turns within 5 s.
    func isAlive() async -> Bool {
        for shard in server.shards {
            let loop = MultiThreadedEventLoopGroup.singleton.any()
            let answer = loop.makePromise(of: Bool.self)
            let timer = loop.scheduleTask(in: Self.patience) { answer.succeed(false) }
            shard.eventLoop.execute { answer.succeed(true) }
            let isTurning = (try? await answer.futureResult.get()) ?? false
            timer.cancel()
            if !isTurning { return false }
        }
        return true
    }

    func metrics() async -> [Metric] {
        let numbers = await gatewayNumbers()
        let (sockets, lateness, connections, unfinishedOctets) = await server.statistics()
        var metrics = [
            Metric(
                "isthmus_build_info", .gauge, help: "Always 1; version and commit of the running program.",
                samples: [.init(1, ["version": GatewayVersion.current, "commit": Self.commit])]),
            Metric(
                "isthmus_uptime_seconds", .gauge, help: "Time since the listeners opened.",
                value: Double((server.clock.now() - startedAt).seconds)),
            Metric("isthmus_connections", .gauge, help: "Open TCP and TLS connections.", value: Double(connections)),
            Metric(
                "isthmus_unfinished_octets", .gauge, help: "Octets held of received messages that are not complete.",
                value: Double(unfinishedOctets)),
            Metric(
                "isthmus_file_descriptor_limit", .gauge, help: "File descriptors that this process may open.",
                value: Double(FileDescriptors.limit)),
        ]
        if let users = directory.count {
            metrics.append(Metric("isthmus_directory_users", .gauge, help: "Users of the directory in use.", value: Double(users)))
        }
        let refreshes = directory.refreshCounts
        metrics += [
            Metric(
                "isthmus_directory_refreshes_total", .counter, help: "Completed readings of the users from the directory service.",
                value: Double(refreshes.done)),
            Metric(
                "isthmus_directory_refresh_failures_total", .counter,
                help: "Readings of the users that failed, so that the former ones stay in use.", value: Double(refreshes.failed)),
        ]
        for (name, help, path) in Self.gauges {
            metrics.append(Metric("isthmus_\(name)", .gauge, help: help, value: Double(numbers.counts[keyPath: path])))
        }
        metrics.append(
            Metric(
                "isthmus_lateness_seconds", .gauge, help: "Last reported delay of the event loops, summed; zero once it is over.",
                value: Double(numbers.counts.latenessMilliseconds) / 1_000))
        metrics += [
            Metric(
                "isthmus_table_entries", .gauge, help: "Entries of a bounded table, of all shards.",
                samples: numbers.tables.map { .init(Double($0.entries), ["table": $0.name]) }),
            Metric(
                "isthmus_table_limit", .gauge, help: "Limit of the entries of a table, of all shards.",
                samples: numbers.tables.map { .init(Double($0.limit), ["table": $0.name]) }),
        ]
        for (name, help, path) in Self.counters {
            metrics.append(Metric("isthmus_\(name)_total", .counter, help: help, value: Double(numbers.counters[keyPath: path])))
        }
        for (name, help, path) in TransportCounters.all {
            metrics.append(Metric("isthmus_transport_\(name)_total", .counter, help: help, value: Double(sockets[keyPath: path])))
        }
        metrics += Self.durations(numbers.counters.durations, lateness: lateness)
        metrics += ProcessFigures.read()?.metrics ?? []
        if let store { metrics += Self.storeMetrics(store.statistics) }
        if let documents { metrics += Self.httpMetrics(await documents.statistics()) }
        if let tls { metrics += Self.tlsMetrics(tls.statistics) }
        metrics += await partnerMetrics()
        return metrics
    }

    /// Sums the figures of all shards.
    func gatewayNumbers() async -> GatewayNumbers {
        var sum = GatewayNumbers()
        for shard in server.shards {
            let part = try? await shard.perform { endpoint, _ in (endpoint as? Gateway)?.numbers }.get()
            guard let part = part ?? nil else { continue }
            for (_, _, path) in Self.counters { sum.counters[keyPath: path] &+= part.counters[keyPath: path] }
            sum.counters.durations.add(part.counters.durations)
            for (_, _, path) in Self.gauges { sum.counts[keyPath: path] += part.counts[keyPath: path] }
            sum.counts.latenessMilliseconds += part.counts.latenessMilliseconds
            for table in part.tables {
                guard let index = sum.tables.firstIndex(where: { $0.name == table.name }) else {
                    sum.tables.append(table)
                    continue
                }
                sum.tables[index].entries += table.entries
                sum.tables[index].limit += table.limit
            }
        }
        return sum
    }
}
