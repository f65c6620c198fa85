import EnhancedPresence
import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents

/// Reports about relayed publications.
extension PublicationsFlow {
    /// Keys of all users, each once; a user may have both bridges for a while after the domain changed its presence model.
    private var keys: [String] { Array(pidf.table.keys) + categories.table.keys.filter { pidf.table[$0] == nil } }

    var tables: [TableSize] {
        [TableSize(name: "publication_bridges", entries: count, limit: configuration.limits.publicationBridges)]
    }

    func count(in counts: inout GatewayCounts) { counts.publicationBridges = count }

    func forEachPresentity(_ body: (String) -> Void) { keys.forEach(body) }

    func state(ofPresentity key: String) -> PresentityReport.State? { isRelayed(key) ? .carried : nil }

    func describe(_ key: String, in report: inout PresentityReport) {
        if report.state == .carried { report.publications = publicationCount(of: key) }
    }

    func explain(_ question: ExplainQuestion, in explanation: inout Explanation, at now: Instant) {
        if question.state == .carried { explanation.show(relayed: report(of: question.presentity.aorKey, at: now)) }
    }

    func isRelayed(_ key: String) -> Bool { pidf.table[key] != nil || categories.table[key] != nil }

    /// Number of relayed publications of either model.
    func publicationCount(of key: String) -> Int {
        (pidf.table[key]?.clientInstances.count ?? 0) + (categories.table[key]?.publications.sources.count ?? 0)
    }

    /// The report of a user's relayed publications; nil: none.
    func report(of key: String, at now: Instant) -> RelayedReport? {
        pidf.table[key].map { report($0) } ?? categories.table[key].map { report($0, at: now) }
    }

    private func report(_ bridge: PIDFBridge) -> RelayedReport {
        RelayedReport(
            method: SIPMethod.publish.rawValue, nextHop: pidf.publishingHop(of: bridge.uri)?.description,
            standing: bridge.isSettled ? .current : bridge.client.isAsking ? .asking : .waiting,
            nextAt: bridge.nextDeadline.map { DateTime($0) }, waiting: bridge.held.count,
            published: bridge.clientInstances.map { InstanceReport($0) }, documents: [],
            lapsesAt: bridge.client.standing.map { DateTime($0.lapsesAt) }, instances: [])
    }

    private func report(_ bridge: CategoryBridge, at now: Instant) -> RelayedReport {
        let isSettled = bridge.current == nil && bridge.client.isSettled(at: DateTime(now))
        return RelayedReport(
            method: SIPMethod.service.rawValue, nextHop: categories.publishingHop(of: bridge.uri)?.description,
            standing: isSettled ? .current : bridge.client.isAsking ? .asking : .waiting,
            nextAt: bridge.nextDeadline.map { DateTime($0) }, waiting: bridge.queue.count + (bridge.current == nil ? 0 : 1),
            published: [], documents: bridge.publications.sources.values.map { DateTime($0.until) }.sorted(), lapsesAt: nil,
            instances: bridge.client.keptStandings.sorted { $0.key < $1.key }.map { id, standing in
                RelayedReport.RemoteInstance(
                    category: id.category.rawValue, container: Int(id.container.rawValue), instance: Int(id.instance),
                    version: Int(standing.version), until: standing.until, isUncertain: standing.isUncertain)
            })
    }
}

extension PIDFBridge {
    /// Instances published by clients, without computed ones.
    fileprivate var clientInstances: [CategoryInstance] {
        enhanced.pairs.flatMap { enhanced.instances(of: $0) }.filter { !$0.isComputed }
    }
}
