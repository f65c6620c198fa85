import EnhancedPresence
import PresenceRules
import SIPCore
import SIPEvents

/// Watchers of hosted presentities, and the changes that they are notified of.
extension PresentitiesFlow {
    /// Attaches a resource of a dialog to the record that its watcher is shown.
    func attach(
        _ resource: WatchedResource, ofDialog tag: String, for identity: WatcherIdentity, hidesIdentity: Bool, at now: Instant
    ) {
        let access = authorization.access(
            of: RuleWatcher(identity, hidesIdentity: hidesIdentity), to: resource.key, resource.uri, isWatching: true, at: now)
        resource.permit(access)
        if access?.isBlocked == true { review.noteBlockedWatch(of: resource.key) }
        let record = blocking.record(of: resource.key, resource.uri, for: identity, access, at: now)
        record.add(resource, of: tag)
        resource.place(at: record.key)
        resource.show(.offline)
        ports.watchChanged(resource, inDialog: tag, by: identity, hidesIdentity: hidesIdentity, isNew: true, at: now)
    }

    func detach(_ resource: WatchedResource, ofDialog tag: String) {
        guard let presentity = table[resource.hostedKey] else { return }
        presentity.removeWatcher(tag)
        ports.watchEnded(resource, inDialog: tag, at: commitLog.now)
        settle(presentity)
    }

    /// The presentity in a watcher's format; nil: the resource has no record here.
    func rendered(
        _ resource: WatchedResource, as format: WatcherFormat, for identity: WatcherIdentity, at now: Instant
    ) -> (presence: RenderedPresence, isOwn: Bool)? {
        table[resource.hostedKey]?.rendered(resource, as: format, for: identity, by: translator, counters: &counters, at: now)
    }

    /// Notifies the user's own endpoints and the watchers of a change.
    func notifyAll(of presentity: HostedPresentity, _ change: PresentityChange, at now: Instant) {
        guard !change.isEmpty else { return }
        ports.notifyOwner(of: presentity, change, at: now)
        presentity.noteServerPublications(change, at: now)
        if !change.pairs.isEmpty { presentity.noteTimedMoment(at: now) }
        if !change.pairs.isEmpty || !change.containers.isEmpty { notifyWatchers(of: presentity, at: now) }
        table.schedule(presentity)
    }

    /// Notifies the watchers that see a difference.
    func notifyWatchers(of presentity: HostedPresentity, at now: Instant) {
        presentity.changed()
        if presentity.look == nil, authorization.dependsOnSphere(presentity.key) { review.reviewWatchers(of: presentity.key, at: now) }
        for (tag, resource) in presentity.watchersInOrder { ports.sourceChanged(resource, inDialog: tag, at: now) }
    }

    /// Notifies the watchers of all presentities that see a difference.
    func notifyAllWatchers(at now: Instant) {
        for presentity in table.inOrder { notifyWatchers(of: presentity, at: now) }
    }

    /// Ends what expired and begins what is due, and notifies the watchers.
    func advance(_ presentity: HostedPresentity, at now: Instant) {
        var change = presentity.expireInstances(at: now)
        if let due = presentity.server.due, due <= now { change.formUnion(table.publishForServer(presentity)) }
        composePublished(presentity)
        let lapsed = presentity.expireDocuments(at: now)
        composeAgain(presentity)
        let isOtherTime = presentity.passTimedMoment(at: now)
        for tag in lapsed { keep(.publication(presentity: presentity.key, tag: tag.value)) }
        if !change.isEmpty {
            table.keep(presentity)
            notifyAll(of: presentity, change, at: now)
        } else if !lapsed.isEmpty || isOtherTime {
            notifyWatchers(of: presentity, at: now)
        }
        settle(presentity)
    }

    // MARK: configuration

    /// Applies the sides and registered categories of the present domains.
    func renewDomains(at now: Instant) {
        for presentity in table.inOrder {
            let isOther = presentity.use(table.side(of: presentity.uri), configuration.presencePolicy(of: presentity.uri))
            if isOther { notifyWatchers(of: presentity, at: now) }
        }
    }
}
