import FederationRouting
import SIPCore

/// Users of the hosted enterprise domains, by the shared directory alone.
extension ShardMember {
    /// Whether the directory decides about a URI.
    func isInDirectory(_ uri: SIPURI) -> Bool {
        guard let domain = configuration.domain(uri.domainKey) else { return false }
        return domain.hosted && domain.side == .enterprise
    }

    /// Whether the user with this `aorKey` exists in a hosted enterprise domain; without a directory every user does.
    func isUser(_ key: String) -> Bool { directory.has(key) == true }

    /// Refuses watchers of users that do not exist; a batch reports them in its list instead (MS-PRES 3.4.5.3).
    func checkUsers(_ uris: [SIPURI], isBatch: Bool) throws(Refusal) {
        for uri in uris {
            guard let domain = configuration.domain(uri.domainKey) else { continue }
            do throws(Refusal) {
                try screening.checkUser(uri, of: domain)
            } catch  where !isBatch || error.status != .notFound {
                throw error
            } catch {
                continue
            }
        }
    }
}
