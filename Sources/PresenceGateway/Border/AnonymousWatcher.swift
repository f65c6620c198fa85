import EnhancedPresence
import FederationRouting
import SIPCore

// Anonymous watchers (RFC 3323 4.1.1.3): served on behalf of the partner that sent the request, with presence that every watcher may see.

extension RequestScreening {
    /// Header field of ``PeerAdmission``, not sent in any message.
    static let anonymousMark: SIPHeaderName = "Isthmus-Anonymous"

    /// The anonymous sender from the mark; nil: the sender is not anonymous.
    /// - Throws: 403 for a host that only ``AnonymousUser`` generates.
    static func anonymousSender(_ headers: SIPHeaders, from: SIPURI) throws(Refusal) -> SIPURI? {
        guard AnonymousUser.partner(ofHost: from.domainKey) == nil else {
            throw .forbidden("RFC 3323 4.1.1.3: the host of From names nobody", errorID: 1_002)
        }
        return headers.first(anonymousMark).flatMap { SIPURI($0) }
    }
}

extension GatewayConfiguration {
    /// The entry that applies to the anonymous user of a partner; nil: not such a user.
    func anonymousDomain(_ host: String) -> DomainConfiguration? {
        guard let partner = AnonymousUser.partner(ofHost: host), let domain = domains[partner], !domain.hosted else { return nil }
        return domain
    }
}

extension SourceNetwork {
    /// The network of a domain's users in container resolution. Anonymous watchers get one that no container names (MS-PRES 2.2.2.5.1), so
    /// that only containers for everyone match.
    init(_ network: DomainNetwork?, ofDomain host: String) {
        self.init(rawValue: AnonymousUser.isHost(host) ? "anonymous" : network?.rawValue ?? "")
    }
}

extension WatcherIdentity {
    /// The watcher in container resolution.
    init(_ watcher: SIPURI, network: DomainNetwork) {
        self.init(uri: watcher.description, network: .init(network, ofDomain: watcher.domainKey))
    }
}
