import FederationRouting
import SIPCore
import SIPEvents

/// An event package about a user's own data, for the user's own endpoints (MS-PRES 3.3, MS-SIP 3.7).
protocol OwnDataPackage: EventPackage {
    /// Opens the subscription of a user.
    func subscription(of owner: DataOwner, _ request: SIPRequest) throws(Refusal) -> any PackageSubscription
    /// Restores the subscription of a user; nil: the details cannot be read.
    func subscription(of owner: DataOwner, _ details: [String: String]) -> (any PackageSubscription)?
}

/// Owner of the data that a dialog is about.
struct DataOwner: Hashable {
    /// `aorKey` of the user.
    var key: String
    var uri: SIPURI
}

extension OwnDataPackage {
    func open(
        _ request: SIPRequest, to: SIPURI, over flow: Flow, by screening: RequestScreening, at now: Instant
    ) throws(Refusal) -> OpenedSubscription {
        let parties = try screening.parties(request, presentity: to)
        guard parties.presentityDomain.hosted, parties.presentityDomain.side == .enterprise else {
            throw Refusal(.notFound, "MS-PRES 3.3.5.3: To is no user of this server", errorID: 4005)
        }
        guard parties.watcherKey == parties.presentityKey else { throw .badRequest("MS-PRES 3.3.5.3: From and To differ") }
        try checkAccept(request)
        let owner = DataOwner(key: parties.presentityKey, uri: parties.presentity)
        return OpenedSubscription(parties: parties, subscription: try subscription(of: owner, request))
    }

    func restore(
        _ stored: StoredDialog, of watcher: SIPURI, in domain: DomainConfiguration
    ) -> OpenedSubscription? {
        guard domain.hosted, let subscription = subscription(of: DataOwner(key: stored.owner, uri: watcher), stored.details) else {
            return nil
        }
        return OpenedSubscription(
            parties: RequestScreening.Parties(
                watcher: watcher, watcherKey: stored.owner, watcherDomain: domain, presentity: watcher, presentityKey: stored.owner,
                presentityDomain: domain, entity: watcher, maxForwards: 69),
            subscription: subscription)
    }
}
