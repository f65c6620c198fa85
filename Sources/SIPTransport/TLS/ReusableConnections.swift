import SIPCore
import Synchronization

/// Accepted TLS connections with a verified client certificate, and the addresses for which they may carry requests to the partner (RFC
/// 5923); shared by all loops.
///
///     accepted, certificate proved --request with `alias` in its topmost Via--> stands for the address in that Via
///
/// The alias alone is not trusted: a request uses the connection only if the partner's certificate would also be accepted from a server at
/// the request's target. So a partner receives no request that it could not receive by listening there.
final class ReusableConnections: Sendable {
    /// Address for which a partner announces its connection: the sent-by of its Via.
    struct Alias: Hashable, Sendable {
        var host: String
        var port: Int

        /// Creates an alias; nil when the Via has no `alias` parameter or another transport than TLS (RFC 5923 4).
        init?(_ via: Via) {
            guard via.transport == .tls, via.parameters.contains("alias") else { return nil }
            host = via.sentByHost.lowercased()
            port = via.sentByPort ?? TransportProtocol.tls.defaultPort
        }
    }

    private struct Entry {
        var identity: PeerIdentity
        /// Source address of the connection.
        var host: String
        var alias: Alias?

        /// Whether the connection serves the target: the port equals that of the alias, and the host is the alias or the source address.
        func stands(for target: TransportAddress) -> Bool {
            guard let alias, alias.port == target.port else { return false }
            return target.host == host || target.host.lowercased() == alias.host
        }
    }

    private let entries = Mutex<[ConnectionID: Entry]>([:])

    func add(_ id: ConnectionID, of identity: PeerIdentity, at host: String) {
        entries.withLock { $0[id] = Entry(identity: identity, host: host) }
    }

    /// Replaces the identity of a connection after its certificates were verified again.
    func update(_ id: ConnectionID, to identity: PeerIdentity) {
        entries.withLock { $0[id]?.identity = identity }
    }

    func announce(_ alias: Alias, on id: ConnectionID) {
        entries.withLock { $0[id]?.alias = alias }
    }

    func remove(_ id: ConnectionID) {
        entries.withLock { $0[id] = nil }
    }

    /// Newest connection that may carry a request to this target; nil when there is none.
    func connection(toward target: TransportAddress, proving expectation: PeerExpectation) -> ConnectionID? {
        entries.withLock { entries in
            var found: ConnectionID?
            for (id, entry) in entries where found.map({ $0.rawValue < id.rawValue }) ?? true {
                guard expectation.reusesConnections || entry.stands(for: target), expectation.verdict(on: entry.identity).isProved else {
                    continue
                }
                found = id
            }
            return found
        }
    }
}
