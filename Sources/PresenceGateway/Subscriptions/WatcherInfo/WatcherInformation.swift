import ByteCoding
import EnhancedPresence
import PresenceDocuments
import SIPCore
import SIPEvents

/// The watchers of presentities of this shard, for subscribers to watcher information (RFC 3857).
///
///     watch --begins, is decided about, ends--> changed --end of the tick--> subscribers, each at most every 5 s
///     pending watch --ends--> waiting --decided about, given up--> gone
///
/// Rows are computed from the watches when a document is made, so that none is lost. A politely blocked watcher is `active` in every row: its
/// subscription is. Fetches that were admitted make no row (RFC 3857 4.7.1).
final class WatcherInformation: ShardMember, Inspectable {
    /// Row with its watcher.
    struct Row {
        let info: WatcherInfo
        /// nil: the watcher hides its identity.
        let watcher: PresenceAddress?
    }

    let kernel: GatewayKernel
    let context: ShardContext
    unowned let admission: any WatchAdmission
    private unowned let notifier: SubscriptionsFlow
    private unowned let sources: any WatchSources
    /// Watches that wait for a decision, by tag.
    private var pending: [String: (watcher: WatcherIdentity, hidesIdentity: Bool)] = [:]
    private var waiting = WaitingWatchers()
    /// Presentities with changed rows.
    private var changed: Set<String> = []

    init(
        _ kernel: GatewayKernel, _ context: ShardContext, notifier: SubscriptionsFlow, admission: any WatchAdmission,
        sources: any WatchSources
    ) {
        self.kernel = kernel
        self.context = context
        self.notifier = notifier
        self.admission = admission
        self.sources = sources
    }

    // MARK: watches

    /// Notes that a watch began, or that another decision was made about it.
    func watchChanged(
        _ resource: WatchedResource, _ tag: String, by watcher: WatcherIdentity, hidesIdentity: Bool, isNew: Bool, at now: Instant
    ) {
        let isPending = resource.access?.isPending == true
        if isPending || !pending.isEmpty { pending[tag] = isPending ? (watcher, hidesIdentity) : nil }
        if isNew, waiting.count > 0 {
            // RFC 3857 4.7.1: a new subscription of the watcher takes the place of the one that waits.
            let former = waiting.remove(of: resource.key) {
                $0.watcher.address == watcher.address && $0.hidesIdentity == hidesIdentity
            }
            for entry in former { noteEnd(of: entry.id, about: resource.key, by: isPending ? .giveup : .approved) }
        }
        note(resource.key)
    }

    /// Notes the end of a watch.
    func watchEnded(_ resource: WatchedResource, _ tag: String, at now: Instant) {
        let key = resource.key
        if let one = pending.removeValue(forKey: tag), resource.access?.isPending == true {
            let entry = WaitingWatchers.Entry(
                id: Self.id(of: tag), watcher: one.watcher, hidesIdentity: one.hidesIdentity, since: now)
            let limits = configuration.limits
            let (dropped, isAdded) = waiting.add(
                entry, of: key, limitOfPresentity: limits.waitingWatchersPerPresentity, limit: limits.waitingWatchers)
            if let dropped { noteEnd(of: dropped.id, about: key, by: .giveup) }
            if !isAdded { counters.limitsReached += 1 }
        }
        noteEnd(of: Self.id(of: tag), about: key, by: resource.access?.isBlocked == true ? .rejected : .timeout)
    }

    /// Decides again about the watchers of a presentity that wait.
    func decisionsChanged(of presentity: String, at now: Instant) {
        guard waiting.count > 0 else { return }
        var events: [String: WatcherInfo.Event] = [:]
        let decided = waiting.remove(of: presentity) { entry in
            let access = sources.access(of: entry.watcher, hidesIdentity: entry.hidesIdentity, to: presentity, at: now)
            guard access?.isPending != true else { return false }
            events[entry.id] = access?.isBlocked == true ? .rejected : .approved
            return true
        }
        for entry in decided { noteEnd(of: entry.id, about: presentity, by: events[entry.id] ?? .approved) }
    }

    /// Gives up the watchers of a presentity that have waited too long.
    func expireWaiting(of presentity: String, at now: Instant) {
        let gone = waiting.remove(of: presentity) { $0.since + WaitingWatchers.patience <= now }
        for entry in gone { noteEnd(of: entry.id, about: presentity, by: .giveup) }
    }

    // MARK: subscribers

    /// Notes that the information about a presentity has another subscriber.
    func subscribersChanged(of presentity: String, _ level: WatcherInfoLevel) { if level == .presence { note(presentity) } }

    /// Notes the end of a subscription to the information about a presentity.
    func subscriberEnded(_ tag: String, of presentity: String, _ level: WatcherInfoLevel) {
        guard level == .presence else { return }
        noteEnd(of: Self.id(of: tag), about: presentity, by: .timeout)
    }

    private func note(_ presentity: String) {
        if !notifier.dialogs.about(presentity).isEmpty { changed.insert(presentity) }
    }

    private func noteEnd(of id: String, about presentity: String, by event: WatcherInfo.Event) {
        for dialog in notifier.dialogs.about(presentity) {
            (dialog.subscription as? WatcherInfoSubscription)?.noteEnd(of: id, by: event)
        }
        note(presentity)
    }

    /// Notifies the subscribers of the changes of this tick.
    func notifyChanged(at now: Instant) {
        guard !changed.isEmpty else { return }
        let keys = changed.sorted()
        changed = []
        for key in keys {
            for dialog in notifier.dialogs.about(key) {
                guard let subscription = dialog.subscription as? WatcherInfoSubscription else { continue }
                subscription.noteChange()
                notifier.notifyChanges(of: dialog, at: now)
            }
        }
    }

    // MARK: rows

    /// Rows about a presentity: those that wait for a decision first.
    func rows(of presentity: String, _ level: WatcherInfoLevel, at now: Instant) -> [Row] {
        switch level {
        case .presence: watches(of: presentity)
        case .information:
            notifier.dialogs.about(presentity).compactMap { dialog in
                guard let subscription = dialog.subscription as? WatcherInfoSubscription, subscription.level == .presence,
                    !dialog.notifier.isFetching, !dialog.notifier.isEnding
                else { return nil }
                return row(
                    Self.id(of: dialog.localTag), .active, .subscribe, dialog.identity, hidesIdentity: dialog.hidesIdentity)
            }
        }
    }

    private func watches(of presentity: String) -> [Row] {
        var (pending, active): ([Row], [Row]) = ([], [])
        for (tag, resource) in sources.watches(of: presentity) {
            guard let watcher = sources.identity(ofWatch: tag), resource.access?.isBlocked != true else { continue }
            let (id, isPrivate) = (Self.id(of: tag), sources.hidesIdentity(ofWatch: tag))
            if resource.access?.isPending == true {
                pending.append(row(id, .pending, .subscribe, watcher, hidesIdentity: isPrivate))
            } else if !sources.isPoll(tag) {
                active.append(row(id, .active, resource.wasApproved ? .approved : .subscribe, watcher, hidesIdentity: isPrivate))
            }
        }
        return pending
            + waiting.of(presentity).map { row($0.id, .waiting, .timeout, $0.watcher, hidesIdentity: $0.hidesIdentity) } + active
    }

    private func row(
        _ id: String, _ status: WatcherInfo.Status, _ event: WatcherInfo.Event, _ watcher: WatcherIdentity, hidesIdentity: Bool
    ) -> Row {
        // RFC 3323 4.1.1.3
        let shown = hidesIdentity ? "anonymous@anonymous.invalid" : watcher.address.text
        return Row(
            info: WatcherInfo(id: id, status: status, event: event, uri: "sip:" + shown), watcher: hidesIdentity ? nil : watcher.address)
    }

    /// Id of a row. Tags are unguessable, and a hash does not show them.
    private static func id(of tag: String) -> String { "w" + String(FNV1a(of: tag.utf8).value, radix: 16) }

    // MARK: reports

    var sizes: [String: Int] { ["pendingWatches": pending.count, "waitingWatchers": waiting.count] }

    var tables: [TableSize] {
        [TableSize(name: "waiting_watchers", entries: waiting.count, limit: configuration.limits.waitingWatchers)]
    }
}

/// Watches of the presentities of this shard, and the decisions about them.
protocol WatchSources: AnyObject {
    /// Watches of a presentity, those of dialogs in other shards included, ordered by tag.
    func watches(of presentity: String) -> [(tag: String, resource: WatchedResource)]

    /// The watcher; nil: the watch has ended.
    func identity(ofWatch tag: String) -> WatcherIdentity?

    /// Whether the watcher asked for privacy of its identity (RFC 3325 9.3).
    func hidesIdentity(ofWatch tag: String) -> Bool

    /// Whether the watch is one of a fetch.
    func isPoll(_ tag: String) -> Bool

    /// Access of a watcher by the rules of a presentity; nil: it sees everything.
    func access(of watcher: WatcherIdentity, hidesIdentity: Bool, to presentity: String, at now: Instant) -> WatchAccess?
}
