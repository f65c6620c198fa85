import Synchronization

/// URIs of list services by owner, for all shards of a node: a service URI is unique on the server (RFC 4826 4.4.5), and its owner may
/// belong to any shard. One lock, held for look-ups only.
///
///     change --claim--> old and new URIs --stored--> new URIs
///                                        --failed--> old URIs
package final class ServiceURIs: Sendable {
    private struct State {
        var owners: [String: String] = [:]
        var uris: [String: Set<String>] = [:]
    }

    private let state = Mutex(State())

    /// Creates an empty table.
    package init() {}

    /// Owner of the service of a URI, by `aorKey`; nil: there is none.
    package func owner(of uri: String) -> String? { state.withLock { $0.owners[uri] } }

    /// Whether another user has a service of that URI.
    func isTaken(_ uri: String, byOthersThan user: String) -> Bool {
        state.withLock { $0.owners[uri].map { $0 != user } ?? false }
    }

    /// Claims URIs for a user beside those that the user has, until ``keep(only:of:)``.
    /// - Returns: false, without a change, if another user has one of them.
    func claim(_ uris: Set<String>, of user: String) -> Bool {
        state.withLock { state in
            guard !uris.contains(where: { state.owners[$0].map { $0 != user } ?? false }) else { return false }
            for uri in uris { state.owners[uri] = user }
            if !uris.isEmpty { state.uris[user, default: []].formUnion(uris) }
            return true
        }
    }

    /// Releases the URIs of a user that are not among these.
    func keep(only uris: Set<String>, of user: String) {
        state.withLock { state in
            guard let claimed = state.uris[user] else { return }
            for uri in claimed.subtracting(uris) { state.owners[uri] = nil }
            let kept = claimed.intersection(uris)
            state.uris[user] = kept.isEmpty ? nil : kept
        }
    }

    /// Sets the URIs of a stored document, except those that another user has by now.
    func restore(_ uris: Set<String>, of user: String) {
        _ = claim(uris.filter { !isTaken($0, byOthersThan: user) }, of: user)
        keep(only: uris, of: user)
    }
}

/// Tables are equal if they are the same one.
extension ServiceURIs: Hashable {
    package static func == (left: ServiceURIs, right: ServiceURIs) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
