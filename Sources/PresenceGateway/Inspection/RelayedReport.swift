import EnhancedPresence
import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents

/// Publications that this node relays to a user's home server, and their state there (RFC 3903, MS-PRES 3.2).
public struct RelayedReport: Codable, Hashable, Sendable {
    /// State of the relay.
    public enum Standing: String, Codable, Hashable, Sendable {
        /// The home server has the current publications.
        case current
        /// A request to the home server awaits its response.
        case asking
        /// The home server has another state or none; the request is repeated later.
        case waiting
    }

    /// One category instance that this node maintains at the home server.
    public struct RemoteInstance: Codable, Hashable, Sendable {
        /// Category name.
        public var category: String
        /// Container number.
        public var container: Int
        /// Instance number.
        public var instance: Int
        /// Version at the home server; 0: the instance may not exist.
        public var version: Int
        /// Time at which the home server removes the instance.
        public var until: DateTime
        /// Whether the state is unverified: a request got no response, or another publisher wrote the instance.
        public var isUncertain: Bool
    }

    /// Method toward the home server: `PUBLISH` for a simple domain, `SERVICE` for an enterprise domain.
    public var method: String
    /// The next hop; nil: the user's domain no longer accepts publications from this node.
    public var nextHop: String?
    /// State of the relay.
    public var standing: Standing
    /// Time of the next refresh, retry or expiry.
    public var nextAt: DateTime?
    /// Number of client requests that wait for the home server.
    public var waiting: Int
    /// Instances published by enterprise clients with SERVICE.
    public var published: [InstanceReport]
    /// Expiry of each document published by standard clients with PUBLISH.
    public var documents: [DateTime]
    /// Expiry of the publication made with PUBLISH at the home server; nil: none.
    public var lapsesAt: DateTime?
    /// Instances maintained with SERVICE at the home server.
    public var instances: [RemoteInstance]
}

extension Gateway {
    /// Keys of all users with relayed publications, except users hosted on this node.
    var relayedKeys: some Sequence<String> {
        publications.keys.lazy.filter { self.presentities[$0] == nil }
    }

    func isRelayed(_ key: String) -> Bool { presentities[key] == nil && publications.isRelayed(key) }

    /// Number of relayed publications of either model.
    func relayedPublications(of key: String) -> Int {
        (publications.pidfBridge(key)?.clientInstances.count ?? 0) + (publications.categoryBridge(key)?.publications.sources.count ?? 0)
    }

    func relayedReport(of key: String, at now: Instant) -> RelayedReport? {
        guard isRelayed(key) else { return nil }
        return publications.pidfBridge(key).map { report($0) } ?? publications.categoryBridge(key).map { report($0, at: now) }
    }

    private func report(_ bridge: PIDFBridge) -> RelayedReport {
        RelayedReport(
            method: SIPMethod.publish.rawValue, nextHop: publishingHop(of: bridge.uri, side: .simple)?.description,
            standing: bridge.isSettled ? .current : bridge.client.isAsking ? .asking : .waiting,
            nextAt: bridge.nextDeadline.map { DateTime($0) }, waiting: bridge.held.count,
            published: bridge.clientInstances.map { InstanceReport($0) }, documents: [],
            lapsesAt: bridge.client.standing.map { DateTime($0.lapsesAt) }, instances: [])
    }

    private func report(_ bridge: CategoryBridge, at now: Instant) -> RelayedReport {
        let isSettled = bridge.current == nil && bridge.client.isSettled(at: DateTime(now))
        return RelayedReport(
            method: SIPMethod.service.rawValue, nextHop: publishingHop(of: bridge.uri, side: .enterprise)?.description,
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
