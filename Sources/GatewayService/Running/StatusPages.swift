import Administration
import HTTPTransport
import NIOCore
import PresenceGateway
import SIPCore
import SIPTransport
import Storage
import Synchronization

/// Status pages of the administration listener: figures and domain names, but no user names.
final class StatusPages: Sendable {
    private let nodeName: String
    let server: SIPServer
    private let startedAt: Instant
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
        for (name, path) in Self.countPaths { named[name] = counts[keyPath: path] }
        return HealthReport(
            status: status, node: nodeName, version: GatewayVersion.current,
            uptimeSeconds: (server.clock.now() - startedAt).seconds, listeners: server.listeners.map(\.description), counts: named,
            partners: PartnerRow.shown(await partners.rows()).map(\.health))
    }

    func metrics() async -> [Metric] {
        let numbers = await gatewayNumbers()
        let (sockets, connections, unfinishedOctets) = await server.statistics()
        var metrics = [
            Metric("isthmus_uptime_seconds", .gauge, help: "Since the start.", value: Double((server.clock.now() - startedAt).seconds)),
            Metric("isthmus_connections", .gauge, help: "Stream connections alive.", value: Double(connections)),
            Metric(
                "isthmus_unfinished_octets", .gauge, help: "Octets held of messages that are not complete.",
                value: Double(unfinishedOctets)),
            Metric(
                "isthmus_file_descriptor_limit", .gauge, help: "File descriptors that this process may have.",
                value: Double(FileDescriptors.limit)),
        ]
        if let users = directory.count {
            metrics.append(Metric("isthmus_directory_users", .gauge, help: "Users of the directory in use.", value: Double(users)))
        }
        let refreshes = directory.refreshCounts
        for (name, value) in [("refreshes", refreshes.done), ("refresh_failures", refreshes.failed)] {
            metrics.append(
                Metric("isthmus_directory_\(name)_total", .counter, help: "Readings of the directory service.", value: Double(value)))
        }
        for (name, path) in Self.countPaths {
            metrics.append(Metric("isthmus_\(name)", .gauge, help: "Alive now.", value: Double(numbers.counts[keyPath: path])))
        }
        metrics += [
            Metric(
                "isthmus_table_entries", .gauge, help: "Entries of a bounded table, of all shards.",
                samples: numbers.tables.map { .init(Double($0.entries), ["table": $0.name]) }),
            Metric(
                "isthmus_table_limit", .gauge, help: "How many entries the table may have, in all shards.",
                samples: numbers.tables.map { .init(Double($0.limit), ["table": $0.name]) }),
        ]
        for (name, path) in Self.counterPaths {
            metrics.append(
                Metric("isthmus_\(name)_total", .counter, help: "Since the start.", value: Double(numbers.counters[keyPath: path])))
        }
        for (name, path) in TransportCounters.all {
            metrics.append(
                Metric("isthmus_transport_\(name)_total", .counter, help: "Since the start.", value: Double(sockets[keyPath: path])))
        }
        if let store { metrics += Self.storeMetrics(store.statistics) }
        if let documents { metrics += Self.httpMetrics(await documents.statistics()) }
        if let tls { metrics += Self.tlsMetrics(tls.statistics) }
        metrics += await partnerMetrics()
        return metrics
    }

    /// Sums the figures of all shards.
    private func gatewayNumbers() async -> GatewayNumbers {
        var sum = GatewayNumbers()
        for shard in server.shards {
            let part = try? await shard.perform { endpoint, _ in (endpoint as? Gateway)?.numbers }.get()
            guard let part = part ?? nil else { continue }
            for (_, path) in Self.counterPaths { sum.counters[keyPath: path] &+= part.counters[keyPath: path] }
            for (_, path) in Self.countPaths { sum.counts[keyPath: path] += part.counts[keyPath: path] }
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

    private static var countPaths: [(String, WritableKeyPath<GatewayCounts, Int>)] {
        [
            ("watcher_dialogs", \.watcherDialogs), ("upstream_subscriptions", \.upstreamSubscriptions), ("presentities", \.presentities),
            ("publications", \.publications), ("publication_bridges", \.publicationBridges), ("registrations", \.registrations),
            ("home_dialogs", \.homeDialogs),
            ("transactions", \.transactions), ("timers", \.timers), ("watched_resources", \.watchedResources),
            ("pending_output", \.pendingOutput),
            ("lateness_milliseconds", \.latenessMilliseconds),
            ("security_associations", \.securityAssociations), ("tls_handshakes", \.tlsHandshakes),
            ("hops_down", \.hopsDown), ("requests_waiting", \.requestsWaiting), ("stores_failing", \.storesFailing),
            ("upstream_unverified", \.unverifiedUpstreams),
        ]
    }

    private static var counterPaths: [(String, WritableKeyPath<GatewayCounters, UInt64>)] {
        [
            ("requests_received", \.requestsReceived), ("responses_received", \.responsesReceived),
            ("responses_refused", \.responsesRefused), ("responses_stray", \.responsesStray),
            ("malformed_received", \.malformedReceived), ("requests_sent", \.requestsSent), ("responses_sent", \.responsesSent),
            ("subscriptions_accepted", \.subscriptionsAccepted), ("subscriptions_refused", \.subscriptionsRefused),
            ("subscriptions_ended", \.subscriptionsEnded), ("notifications_sent", \.notificationsSent),
            ("notifications_suppressed", \.notificationsSuppressed), ("notifications_failed", \.notificationsFailed),
            ("notifications_received", \.notificationsReceived), ("publications_accepted", \.publicationsAccepted),
            ("publications_refused", \.publicationsRefused), ("publications_carried", \.publicationsRelayed),
            ("publications_refused_far", \.publicationsRefusedUpstream), ("publication_conflicts", \.publicationConflicts),
            ("upstream_lost", \.upstreamLost),
            ("redirects_followed", \.redirectsFollowed), ("redirects_delayed", \.redirectsDelayed), ("redirect_loops", \.redirectLoops),
            ("document_flaws", \.documentFlaws), ("documents_unreadable", \.documentsUnreadable),
            ("partial_state_missed", \.partialStateMissed), ("lists_given_up", \.listsGivenUp), ("limits_reached", \.limitsReached),
            ("overload_refusals", \.overloadRefusals), ("impostors_refused", \.unauthorizedPeersRefused),
            ("rights_refused", \.rightsRefused),
            ("directory_searches", \.directorySearches), ("clock_steps", \.clockSteps),
            ("directory_comparisons", \.directoryComparisons),
            ("directory_searches_refused", \.directorySearchesRefused),
            ("documents_composed", \.documentsComposed),
            ("bodies_encoded", \.bodiesEncoded), ("bodies_shared", \.bodiesShared), ("log_records_dropped", \.logRecordsDropped),
            ("requests_authenticated", \.requestsAuthenticated), ("requests_challenged", \.requestsChallenged),
            ("authentication_failures", \.authenticationFailures),
            ("document_requests", \.documentRequests), ("document_changes", \.documentChanges),
            ("document_requests_refused", \.documentRequestsRefused),
            ("commits_failed", \.commitsFailed),
            ("name_questions", \.nameQuestions), ("name_cache_hits", \.nameCacheHits), ("name_failures", \.nameFailures),
            ("hop_failovers", \.hopFailovers), ("hops_not_located", \.hopsNotLocated),
        ]
    }
}
