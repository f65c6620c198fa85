import EnhancedPresence
import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents

/// Publications that this node relays to a user's home server, and their state there (RFC 3903, MS-PRES 3.2).
package struct RelayedReport: Codable, Hashable, Sendable {
    /// State of the relay.
    package enum Standing: String, Codable, Hashable, Sendable {
        /// The home server has the current publications.
        case current
        /// A request to the home server awaits its response.
        case asking
        /// The home server has another state or none; the request is repeated later.
        case waiting
    }

    /// One category instance that this node maintains at the home server.
    package struct RemoteInstance: Codable, Hashable, Sendable {
        /// Category name.
        package var category: String
        /// Container number.
        package var container: Int
        /// Instance number.
        package var instance: Int
        /// Version at the home server; 0: the instance may not exist.
        package var version: Int
        /// Time at which the home server removes the instance.
        package var until: DateTime
        /// Whether the state is unverified: a request got no response, or another publisher wrote the instance.
        package var isUncertain: Bool
    }

    /// Method toward the home server: `PUBLISH` for a simple domain, `SERVICE` for an enterprise domain.
    package var method: String
    /// The next hop; nil: the user's domain no longer accepts publications from this node.
    package var nextHop: String?
    /// State of the relay.
    package var standing: Standing
    /// Time of the next refresh, retry or expiry.
    package var nextAt: DateTime?
    /// Number of client requests that wait for the home server.
    package var waiting: Int
    /// Instances published by enterprise clients with SERVICE.
    package var published: [InstanceReport]
    /// Expiry of each document published by standard clients with PUBLISH.
    package var documents: [DateTime]
    /// Expiry of the publication made with PUBLISH at the home server; nil: none.
    package var lapsesAt: DateTime?
    /// Instances maintained with SERVICE at the home server.
    package var instances: [RemoteInstance]
}
