import Synchronization

/// URIs of list services by owner, for all shards of a node: a service URI is unique on the server (RFC 4826 4.4.5), and its owner may
/// belong to any shard. One lock, held for look-ups only.
package final class ServiceURIs: Sendable {
    private struct State {
        var owners: [String: String] = [:]
        var uris: [String: Set<String>] = [:]
    }

    private let state = Mutex(State())

    /// Creates an empty table.
    package init() {}

    /// Whether another user has a service of that URI.
    func isTaken(_ uri: String, byOthersThan user: String) -> Bool {
        state.withLock { $0.owners[uri].map { $0 != user } ?? false }
    }

    /// Sets the URIs of a user in place of those before.
    /// - Returns: false, without a change, if another user has one of them.
    func set(_ uris: Set<String>, of user: String) -> Bool {
        state.withLock { state in
            guard !uris.contains(where: { state.owners[$0].map { $0 != user } ?? false }) else { return false }
            for uri in state.uris[user] ?? [] { state.owners[uri] = nil }
            for uri in uris { state.owners[uri] = user }
            state.uris[user] = uris.isEmpty ? nil : uris
            return true
        }
    }

    /// Sets the URIs of a stored document, except those that another user has by now.
    func restore(_ uris: Set<String>, of user: String) {
        let free = uris.filter { !isTaken($0, byOthersThan: user) }
        _ = set(free, of: user)
    }
}
