import FederationRouting
import SIPCore
import SIPEvents

/// Watcher information (RFC 3857): `presence.winfo` about the watchers of a presentity, and `presence.winfo.winfo` about the subscribers of
/// that information.
///
/// The presentity sees all rows. Another watcher sees the rows of its own subscriptions, and none of `presence.winfo.winfo` (RFC 3857 4.6).
final class WatcherInfoPackage: EventPackage {
    let token: String
    let mediaTypes = [WatcherInfoSubscription.mediaType]
    private let level: WatcherInfoLevel
    private unowned let information: WatcherInformation

    init(_ information: WatcherInformation, _ level: WatcherInfoLevel) {
        self.information = information
        self.level = level
        token = level.package + ".winfo"
    }

    func open(
        _ request: SIPRequest, to: SIPURI, over flow: Flow, by screening: RequestScreening, at now: Instant
    ) throws(Refusal) -> OpenedSubscription {
        let parties = try screening.parties(request)
        try checkAccept(request)
        guard parties.presentityDomain.unruledHandling != nil else {
            throw Refusal.forbidden("RFC 3857 4.6: there is watcher information of users of hosted simple domains only", errorID: 2004)
        }
        let isOwner = parties.watcherKey == parties.presentityKey
        if !isOwner {
            // Dialogs of users of hosted enterprise domains are in the shard of the watcher, which knows no watchers of the presentity.
            guard level == .presence, !(parties.watcherDomain.hosted && parties.watcherDomain.side == .enterprise) else {
                throw Refusal.forbidden("RFC 3857 4.6: this watcher information is for the presentity", errorID: 2004)
            }
            try information.admission.checkRights(watcher: parties.watcher, presentity: parties.presentity)
            try information.admission.checkUsers([parties.presentity], isBatch: false)
        }
        return OpenedSubscription(
            parties: parties,
            subscription: WatcherInfoSubscription(
                information, level, of: parties.presentity, key: parties.presentityKey, isOwner: isOwner))
    }

    func restore(
        _ stored: StoredDialog, of watcher: SIPURI, in domain: DomainConfiguration
    ) -> OpenedSubscription? {
        guard let presentity = stored.details[WatcherInfoSubscription.presentityDetail].flatMap({ SIPURI($0) }) else { return nil }
        let (key, watcherKey) = (presentity.aorKey, watcher.aorKey)
        return OpenedSubscription(
            parties: RequestScreening.Parties(
                watcher: watcher, watcherKey: watcherKey, watcherDomain: domain, presentity: presentity, presentityKey: key,
                presentityDomain: domain, entity: presentity, maxForwards: 69),
            subscription: WatcherInfoSubscription(
                information, level, of: presentity, key: key, isOwner: key == watcherKey, version: stored.listVersion))
    }
}

/// What watcher information is about.
enum WatcherInfoLevel {
    /// The watchers of presence.
    case presence
    /// The subscribers of `presence.winfo`.
    case information

    /// Token of the package whose subscriptions are listed.
    var package: String {
        switch self {
        case .presence: EventToken.presence
        case .information: EventToken.presence + ".winfo"
        }
    }
}
