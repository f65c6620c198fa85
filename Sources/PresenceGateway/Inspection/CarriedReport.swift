import EnhancedPresence
import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents

/// What clients publish over this node for a user whose home is elsewhere, and what that home has of it (RFC 3903, MS-PRES 3.2).
public struct CarriedReport: Codable, Hashable, Sendable {
    public enum Standing: String, Codable, Hashable, Sendable {
        /// The home has what is published here.
        case current
        /// A request to the home waits for its answer.
        case asking
        /// The home has something else, or nothing, and is asked again later.
        case waiting
    }

    /// One instance that this node keeps at the home.
    public struct FarInstance: Codable, Hashable, Sendable {
        public var category: String
        public var container: Int
        public var instance: Int
        public var version: Int
        public var until: DateTime
        /// Whether a request about it got no answer.
        public var isUncertain: Bool
    }

    /// `PUBLISH` to a simple domain, `SERVICE` to an enterprise domain.
    public var method: String
    /// The next hop; nil: the user's domain takes no publications over this node any more.
    public var nextHop: String?
    public var standing: Standing
    /// When the node acts next by itself: refreshes, tries again or ends what lapses.
    public var nextAt: DateTime?
    /// Requests of clients whose answers wait for the home.
    public var waiting: Int
    /// By SERVICE: what enterprise clients published.
    public var published: [InstanceReport]
    /// By PUBLISH: until when each document of standard clients lasts.
    public var documents: [DateTime]
    /// Of PUBLISH to the home: when that publication lapses there; nil: it has none.
    public var lapsesAt: DateTime?
    /// Of SERVICE to the home.
    public var instances: [FarInstance]
}

extension Gateway {
    /// The keys of all identities for whom something is carried; a user whose home this node has become is none of them.
    var carriedKeys: some Sequence<String> {
        // A user whose domain changed sides may have both for a while.
        [Array(pidfBridges.keys), categoryBridges.keys.filter { pidfBridges[$0] == nil }].joined().lazy.filter {
            self.presentities[$0] == nil
        }
    }

    func isCarried(_ key: String) -> Bool { presentities[key] == nil && (pidfBridges[key] != nil || categoryBridges[key] != nil) }

    /// Of either model.
    func carriedPublications(of key: String) -> Int {
        (pidfBridges[key]?.clientInstances.count ?? 0) + (categoryBridges[key]?.sources.count ?? 0)
    }

    func carriedReport(of key: String, at now: Instant) -> CarriedReport? {
        guard isCarried(key) else { return nil }
        return pidfBridges[key].map { report($0) } ?? categoryBridges[key].map { report($0, at: now) }
    }

    private func report(_ bridge: PIDFBridge) -> CarriedReport {
        CarriedReport(
            method: SIPMethod.publish.rawValue, nextHop: publishingHop(of: bridge.uri, side: .simple)?.description,
            standing: bridge.isSettled ? .current : bridge.client.isAsking ? .asking : .waiting,
            nextAt: bridge.nextDeadline.map { DateTime($0) }, waiting: bridge.held.count,
            published: bridge.clientInstances.map { InstanceReport($0) }, documents: [],
            lapsesAt: bridge.client.standing.map { DateTime($0.lapsesAt) }, instances: [])
    }

    private func report(_ bridge: CategoryBridge, at now: Instant) -> CarriedReport {
        let isSettled = bridge.current == nil && bridge.client.isSettled(at: DateTime(now))
        return CarriedReport(
            method: SIPMethod.service.rawValue, nextHop: publishingHop(of: bridge.uri, side: .enterprise)?.description,
            standing: isSettled ? .current : bridge.client.isAsking ? .asking : .waiting,
            nextAt: bridge.nextDeadline.map { DateTime($0) }, waiting: bridge.queue.count + (bridge.current == nil ? 0 : 1),
            published: [], documents: bridge.sources.values.map { DateTime($0.until) }.sorted(), lapsesAt: nil,
            instances: bridge.client.keptStandings.sorted { $0.key < $1.key }.map { id, standing in
                CarriedReport.FarInstance(
                    category: id.category.rawValue, container: Int(id.container.rawValue), instance: Int(id.instance),
                    version: Int(standing.version), until: standing.until, isUncertain: standing.isUncertain)
            })
    }
}

extension PIDFBridge {
    /// What clients published, without what was computed of it.
    fileprivate var clientInstances: [CategoryInstance] {
        enhanced.pairs.flatMap { enhanced.instances(of: $0) }.filter { !$0.isComputed }
    }
}
