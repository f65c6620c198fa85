import EnhancedPresence
import FederationRouting
import SIPCore

/// Anonymous watchers (RFC 3323 4.1.1.3): served on behalf of the partner that sent the request, with presence that every watcher may see.
extension Gateway {
    /// URI by which a request is judged: From, or for an anonymous From the anonymous user of the peer's partner domain.
    ///
    /// A peer that is no server of a partner with an entry of its own remains the stranger that it is: its domain is not configured (403).
    func speaker(_ from: SIPURI, of method: SIPMethod, on flow: Flow) -> SIPURI {
        guard method == .subscribe, AnonymousUser.isWritten(from), configuration.domains[from.domainKey] == nil,
            let partner = peer(at: flow.remote, proving: flow.peer).domains.first(where: { $0 != RoutingTable.fallbackName })
        else { return from }
        return AnonymousUser.uri(of: partner)
    }

    /// Notes the anonymous sender of a request for ``RequestScreening/sender(of:)``, which knows no flows; what came with it is removed.
    func markAnonymous(_ request: inout SIPRequest, from flow: Flow) {
        request.headers.remove(RequestScreening.anonymousMark)
        guard let from = request.headers.from?.uri else { return }
        let speaker = speaker(from, of: request.method, on: flow)
        if speaker != from { request.headers.set(RequestScreening.anonymousMark, speaker.description) }
    }
}

extension RequestScreening {
    /// Written by ``Gateway/markAnonymous(_:from:)`` alone; it leaves the node in no message.
    static let anonymousMark: SIPHeaderName = "Isthmus-Anonymous"

    /// - Throws: 403 for a host that only ``AnonymousUser`` makes.
    static func anonymousSender(_ headers: SIPHeaders, from: SIPURI) throws(Refusal) -> SIPURI? {
        guard AnonymousUser.partner(ofHost: from.domainKey) == nil else {
            throw .forbidden("RFC 3323 4.1.1.3: the host of From names nobody", errorID: 1_002)
        }
        return headers.first(anonymousMark).flatMap { SIPURI($0) }
    }
}

extension GatewayConfiguration {
    /// The entry that counts for the anonymous user of a partner.
    func anonymousDomain(_ host: String) -> DomainConfiguration? {
        guard let partner = AnonymousUser.partner(ofHost: host), let domain = domains[partner], !domain.hosted else { return nil }
        return domain
    }
}

extension WatcherIdentity {
    /// The watcher as the resolution of containers sees it; an anonymous one is of no network that a container could name
    /// (MS-PRES 2.2.2.5.1), so that what holds for everybody holds for it.
    init(_ watcher: SIPURI, network: SourceNetwork) {
        let isAnonymous = AnonymousUser.partner(ofHost: watcher.domainKey) != nil
        self.init(uri: watcher.description, network: EnhancedPresence.SourceNetwork(rawValue: isAnonymous ? "anonymous" : network.rawValue))
    }
}
