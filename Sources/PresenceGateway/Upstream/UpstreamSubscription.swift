import PresenceDocuments
import SIPCore
import SIPEvents

/// A far leg: one subscription dialog of ours, in one watcher's name, at the home of one or several presentities.
///
/// Never shared between watchers, because the far side decides what each of them may see (DESIGN section 2). When to subscribe,
/// refresh and start anew is decided by its ``SIPEvents/Subscriber``; in which words is written by ``describe(_:expires:reliable:)``.
///
///     WatchedResource --strong--> UpstreamSubscription --> UpstreamResource --weak--> WatchedResource, WatcherDialog
final class UpstreamSubscription {
    let id: UInt64
    let watcher: SIPURI
    let domain: UpstreamDomain
    let maxForwards: Int
    let hopMarks: String
    /// In the order in which they were asked for; without any the leg only says goodbye.
    private(set) var resources: [UpstreamResource]

    var subscriber: Subscriber
    var shape = Shape.single
    var format: UpstreamFormat
    /// Forms to try when the far side accepts none so far (406, 415, 489).
    private var fallbacks: [UpstreamFormat]
    /// Tag and Call-ID of the current attempt.
    var localTag = ""
    var callID = ""
    /// The first SUBSCRIBE of the current attempt, until there is a dialog.
    var request: SIPRequest?
    var dialog: Dialog? { didSet { if dialog != nil { request = nil } } }
    /// The dialog's route set is that of a NOTIFY (RFC 6665 4.4.1), not only that of the 200.
    var hasNotified = false
    /// Where the SUBSCRIBE is addressed: the presentity, a list of it, or the pool that it was said to live in.
    var target: SIPURI
    /// A `resubscribe` was followed once; a second one is a refusal.
    var hasFollowed = false
    /// After a restart: when it is this leg's turn.
    var startsAt: Instant?

    /// How the presentities are named in the SUBSCRIBE.
    enum Shape: Hashable {
        /// One, to whom it is addressed.
        case single
        /// Those of an ad-hoc list, from the watcher to itself (MS-PRES 3.4.5.1.1).
        case batch
        /// Those of a list that the far side expands (RFC 4662, RFC 5367).
        case list
    }

    /// What a watcher that cannot say which categories it wants gets made from.
    static let standardCategories: [CategoryName] = [.state, .note, .contactCard, .services, .calendarData]

    init(
        id: UInt64, watcher: SIPURI, domain: UpstreamDomain, target: SIPURI, maxForwards: Int, hopMarks: String, subscriber: Subscriber
    ) {
        self.id = id
        self.watcher = watcher
        self.domain = domain
        self.maxForwards = maxForwards
        self.hopMarks = hopMarks
        self.subscriber = subscriber
        self.target = target
        resources = []
        let forms: [UpstreamFormat] = domain.side == .simple ? [.pidf] : [.categories, .msrtc, .pidf]
        format = domain.side == .simple ? .pidf : domain.configuration.upstream
        fallbacks = forms.drop { [format] in $0 != format }.dropFirst().map { $0 }
    }

    var nextDeadline: Instant? {
        var next = Instant.earliest(subscriber.nextDeadline, startsAt)
        for resource in resources {
            if let staleAt = resource.staleAt { next = min(next ?? staleAt, staleAt) }
        }
        return next
    }

    // MARK: resources

    func resource(_ key: String) -> UpstreamResource? { resources.first { $0.key == key } }

    /// The only resource of a leg that is no list.
    var only: UpstreamResource? { shape == .single || resources.count == 1 ? resources.first : nil }

    /// Every live sink of every resource.
    var sinks: [(watcher: WatcherDialog, resource: WatchedResource)] { resources.flatMap(\.sinks) }

    var hasSink: Bool { resources.contains(where: \.hasSink) }

    /// Feeds a resource of one of the watcher's dialogs from here.
    func join(_ resource: WatchedResource, of watcher: WatcherDialog) {
        if let known = self.resource(resource.key) {
            known.add(resource, of: watcher)
        } else {
            let added = UpstreamResource(uri: resource.uri, key: resource.key, categories: [])
            added.add(resource, of: watcher)
            resources.append(added)
        }
        resource.upstream = self
    }

    /// Feeds it no more; a presentity without any sink is left out.
    func leave(_ resource: WatchedResource) {
        resource.upstream = nil
        guard let left = self.resource(resource.key) else { return }
        left.remove(resource)
        if !left.hasSink { drop(left) }
    }

    func drop(_ resource: UpstreamResource) {
        resources.removeAll { $0 === resource }
    }

    // MARK: other ways

    /// Takes the next form after a refusal that means "not in this form" (MS-PRES 1.3.3); false: there is none.
    func fallBack(after status: Int) -> Bool {
        guard [406, 415, 420, 421, 488, 489].contains(status), let only, !fallbacks.isEmpty else { return false }
        format = fallbacks.removeFirst()
        target = only.uri
        shape = .single
        return true
    }

    /// Follows `state="resubscribe"` (MS-PRES 3.4.5.1.3.1), once: to the pool that it names, else by a single subscription to the
    /// presentity's own URI. False: one was followed already.
    func follow(poolFqdn: String?) -> Bool {
        guard !hasFollowed, format == .categories, let only else { return false }
        hasFollowed = true
        if let poolFqdn, let pool = SIPURI(poolFqdn), pool.scheme == .sip || pool.scheme == .sips {
            target = pool
            shape = .batch
            return true
        }
        target = only.uri
        shape = .single
        return true
    }
}
