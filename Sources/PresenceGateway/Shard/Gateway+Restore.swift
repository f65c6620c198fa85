import FederationRouting
import EnhancedPresence
import PresenceDocuments
import Registration
import SIPCore
import SIPEvents
import SimplePresence
import XMLCore

/// Counts of a restart from the store.
public struct RestoredState: Hashable, Sendable {
    /// Presentities with stored publications or data.
    public var presentities = 0
    /// Publications: PIDF documents and category instances.
    public var publications = 0
    /// Watcher dialogs, and dialogs of users' own endpoints.
    public var dialogs = 0
    /// Upstream subscriptions that continue in their dialogs.
    public var upstreamSubscriptions = 0
    /// Registrations.
    public var registrations = 0
    /// Publications and dialogs that expired before the restart.
    public var expired = 0
    /// Records that cannot be read, or that belong to a domain no longer configured; they are ignored.
    public var unreadable = 0
    /// Watchers that were notified because their presence differs from the last notification.
    public var notified = 0

    /// Creates zero counts.
    public init() {}

    /// Adds the counts of two shards.
    public static func + (left: RestoredState, right: RestoredState) -> RestoredState {
        var sum = left
        sum.presentities += right.presentities
        sum.publications += right.publications
        sum.dialogs += right.dialogs
        sum.upstreamSubscriptions += right.upstreamSubscriptions
        sum.registrations += right.registrations
        sum.expired += right.expired
        sum.unreadable += right.unreadable
        sum.notified += right.notified
        return sum
    }
}

/// Restart from the state that an earlier process stored.
///
///     records of this shard --> presentities, publications --> expiry --> upstream subscriptions --> dialogs --> expiry
///         --> upstream subscriptions are refreshed or restarted, paced --> watchers that see a difference are notified once
extension Gateway {
    /// Restores the records of this shard; call it once, before the first message.
    ///
    /// A watcher is notified only if its presence differs from the last notification. Notifications follow the dialog's route set;
    /// watchers that were reached over a connection only may come back with a SUBSCRIBE in their dialog
    /// (``GatewayTiming/restartGrace``).
    /// - Throws: when the store cannot be read.
    @discardableResult
    public func restore(at now: Instant) throws(StoreFailure) -> RestoredState {
        guard let store else { return RestoredState() }
        return restore(try store.load(at: now), at: now)
    }

    /// Restores from loaded records; records of other shards are ignored.
    @discardableResult
    public func restore(_ loaded: [StoreRecord], at now: Instant) -> RestoredState {
        commitLog.now = now
        let router = ShardRouter(shards: shards)
        let records = shards == 1 ? loaded : loaded.filter { router.shard(ofKey: $0.owner) == shard }
        var state = RestoredState()
        var publications: [StoredPublication] = []
        var stored: [StoredDialog] = []
        var subscriptions: [StoredUpstreamSubscription] = []
        var shown: [StoredShownWatcher] = []
        for record in records {
            var isRead = true
            switch record {
            case .presentity(let presentity): isRead = restore(presentity, &state)
            case .publication(let publication): publications.append(publication)
            case .dialog(let dialog): stored.append(dialog)
            case .upstreamSubscription(let subscription): subscriptions.append(subscription)
            case .registration(let registration):
                isRead = restore(registration, at: now)
                if isRead { state.registrations += 1 }
            case .contacts(let list): isRead = home.lists.restore(contactsOf: list)
            case .accessList(let list): isRead = home.lists.restore(accessControlOf: list)
            case .bridge(let bridge): isRead = flows.publications.restore(bridge, at: now)
            case .shownWatcher(let watcher): shown.append(watcher)
            case .signOff(let signOff): isRead = restore(signOff)
            }
            if !isRead { leaveOut(record.key, &state) }
        }
        restore(shown)
        // Composition depends on the order in which bodies came.
        for publication in publications.sorted(by: { $0.number < $1.number }) where !restore(publication, &state) {
            leaveOut(.publication(presentity: publication.presentity, tag: publication.tag), &state)
        }
        stored.sort { $0.dialog.localTag < $1.dialog.localTag }
        // Some are restored before expiry, so that they are notified of what expires now.
        let hasStateAtOnce = { (dialog: StoredDialog) in self.packages.package(of: dialog.kind)?.hasStateAtOnce ?? true }
        for dialog in stored where hasStateAtOnce(dialog) {
            if restore(dialog, at: now) { state.dialogs += 1 } else { leaveOut(.dialog(dialog.dialog.localTag), &state) }
        }
        let before = counts.publications
        for presentity in presentities.values.sorted(by: { $0.key < $1.key }) {
            awaitEndpoints(of: presentity, at: now)
            composeAgain(presentity)
            presentity.noteTimedMoment(at: now)
            advance(presentity, at: now)
            schedule(presentity)
        }
        state.expired = before - counts.publications
        let resumed = flows.upstream.restore(subscriptions, at: now)
        state.upstreamSubscriptions += resumed.all.count
        for dialog in stored where !hasStateAtOnce(dialog) {
            if restore(dialog, fedBy: resumed, at: now) { state.dialogs += 1 } else { leaveOut(.dialog(dialog.dialog.localTag), &state) }
        }
        flows.upstream.settle(resumed, at: now)
        // The domains may have changed since the earlier process.
        withdrawRights(at: now)
        notifyRestored(stored, &state, at: now)
        advanceRegistrar(at: now)
        return state
    }

    private func leaveOut(_ key: StoreKey, _ state: inout RestoredState) {
        state.unreadable += 1
        log(.warning, "a stored record is left out", ["key": key.kind])
    }

    // MARK: presentities

    private func restore(_ stored: StoredPresentity, _ state: inout RestoredState) -> Bool {
        guard let uri = SIPURI(stored.uri), let root = try? parser.parse(stored.document).root,
            let data = try? RoamingDataDocument(reading: root)
        else { return false }
        let presentity = presentities[stored.user] ?? makePresentity(stored.user, uri)
        presentities[stored.user] = presentity
        presentity.restore(data, computed: stored.computed, isSimpleNewer: stored.isSimpleNewer)
        // The directory may have changed.
        publishForServer(presentity)
        state.presentities += 1
        state.publications += presentity.enhanced.instanceCount
        return true
    }

    private func restore(_ stored: StoredPublication, _ state: inout RestoredState) -> Bool {
        guard let uri = SIPURI(stored.uri), let document = try? PIDFDocument.decode(stored.document, using: parser) else { return false }
        if presentities[stored.presentity] == nil { state.presentities += 1 }
        let presentity = presentities[stored.presentity] ?? makePresentity(stored.presentity, uri)
        presentities[stored.presentity] = presentity
        presentity.restore(stored, document)
        state.publications += 1
        return true
    }

    /// Gives endpoints ``GatewayTiming/restartGrace`` to come back, because their connections ended with the earlier process.
    private func awaitEndpoints(of presentity: HostedPresentity, at now: Instant) {
        let endpoints = presentity.endpoints
        guard !endpoints.isEmpty else { return }
        returning[presentity.key] = endpoints
        flows.presentities.awaitEndpoints(of: presentity.key, until: now + configuration.timing.restartGrace)
    }

    /// Ends the endpoints that have not come back in time (MS-PRES 3.2.5.5).
    func endReturning(_ key: String, at now: Instant) {
        guard let awaited = returning.removeValue(forKey: key) else { return }
        let present = publishingConnections.endpoints(of: key)
        let gone = awaited.filter { one in
            !present.contains { $0.lowercased() == one.lowercased() }
                && EndpointID(one).map { home.registrar.binding(of: key, endpoint: $0) == nil } ?? true
        }
        endpointsEnded(gone.sorted(), of: key, isLast: present.isEmpty && home.registrar.bindings(of: key).isEmpty, at: now)
    }
}

extension StoreRecord {
    /// Key that selects the shard of the record.
    var owner: String {
        switch self {
        case .dialog(let stored): stored.owner
        case .upstreamSubscription(let stored): stored.owner
        default: key.user ?? ""
        }
    }
}
