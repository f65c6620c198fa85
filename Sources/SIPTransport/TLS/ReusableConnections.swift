import SIPCore
import Synchronization

/// Connections that partners opened and proved themselves on, and which of them carry requests to these partners (RFC 5923); of all loops.
///
///     accepted, certificate proved --request with `alias` in its topmost Via--> stands for the address in that Via
///
/// Whatever the partner writes there: a request goes over its connection only if it has proved what a server at the request's target
/// would have to prove. So nobody gets what he could not get by answering there.
final class ReusableConnections: Sendable {
    /// Where a partner says that it takes requests: the sent-by of its Via.
    struct Alias: Hashable, Sendable {
        var host: String
        var port: Int

        /// nil when the Via announces nothing, or speaks of another transport (RFC 5923 4).
        init?(_ via: Via) {
            guard via.transport == .tls, via.parameters.contains("alias") else { return nil }
            host = via.sentByHost.lowercased()
            port = via.sentByPort ?? TransportProtocol.tls.defaultPort
        }
    }

    private struct Entry {
        var identity: PeerIdentity
        /// The address that it comes from.
        var host: String
        var alias: Alias?

        /// Whether the partner takes requests for the target here: the port is that of its Via, and the host is named there or is its own.
        func stands(for target: TransportAddress) -> Bool {
            guard let alias, alias.port == target.port else { return false }
            return target.host == host || target.host.lowercased() == alias.host
        }
    }

    private let entries = Mutex<[ConnectionID: Entry]>([:])

    func add(_ id: ConnectionID, of identity: PeerIdentity, at host: String) {
        entries.withLock { $0[id] = Entry(identity: identity, host: host) }
    }

    /// What its peer proves has been concluded anew.
    func update(_ id: ConnectionID, to identity: PeerIdentity) {
        entries.withLock { $0[id]?.identity = identity }
    }

    func announce(_ alias: Alias, on id: ConnectionID) {
        entries.withLock { $0[id]?.alias = alias }
    }

    func remove(_ id: ConnectionID) {
        entries.withLock { $0[id] = nil }
    }

    /// The newest connection over which a request to this target may go; nil: there is none.
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
