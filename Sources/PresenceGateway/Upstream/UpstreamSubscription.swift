import PresenceDocuments
import SIPCore
import SIPEvents

/// The far leg of one watcher's interest in one presentity: our subscription in the watcher's name at the presentity's home.
///
/// Never shared between watchers, because the far side decides what each of them may see (DESIGN section 2). When to subscribe,
/// refresh and start anew is decided by its ``SIPEvents/Subscriber``; this class knows in which words to ask.
final class UpstreamSubscription {
    let id: UInt64
    let watcher: SIPURI
    let watcherTrust: SourceNetwork
    let presentity: SIPURI
    let presentityKey: String
    let domain: DomainConfiguration
    let route: TransportAddress
    let maxForwards: Int
    let hopMarks: String
    /// Asked for when the format is categories.
    let categories: [CategoryName]
    /// The sink; nil once the watcher has gone and the leg only says goodbye.
    weak var owner: WatcherDialog?
    weak var resource: WatchedResource?

    var subscriber: Subscriber
    var format: UpstreamFormat
    /// Forms to try when the far side accepts none so far (406, 415, 489).
    private var fallbacks: [UpstreamFormat]
    /// Tag and Call-ID of the current attempt.
    var localTag = ""
    var callID = ""
    /// The first SUBSCRIBE of the current attempt.
    var request: SIPRequest?
    var dialog: Dialog?
    /// The dialog's route set is that of a NOTIFY (RFC 6665 4.4.1), not only that of the 200.
    var hasNotified = false
    /// Where the SUBSCRIBE is addressed: the presentity, or the pool that it was said to live in.
    var target: SIPURI
    /// A pool was named by `poolFqdn`: the request is a batch from the watcher to itself (MS-PRES 3.4.5.1.3.1).
    var isBatch = false
    /// A `resubscribe` was followed once; a second one is a refusal.
    var hasFollowed = false

    var merge = CategoryMerge()
    /// What is kept is of an earlier attempt: the first state of the new one replaces it.
    var isMergeOld = false
    var staleAt: Instant?
    /// After a restart: when it is this leg's turn.
    var startsAt: Instant?

    /// What a watcher that cannot say which categories it wants gets made from.
    static let standardCategories: [CategoryName] = [.state, .note, .contactCard, .services, .calendarData]

    init(
        id: UInt64, watcher: SIPURI, watcherTrust: SourceNetwork, presentity: SIPURI, presentityKey: String, domain: DomainConfiguration,
        route: TransportAddress, maxForwards: Int, hopMarks: String, categories: [CategoryName], subscriber: Subscriber
    ) {
        self.id = id
        self.watcher = watcher
        self.watcherTrust = watcherTrust
        self.presentity = presentity
        self.presentityKey = presentityKey
        self.domain = domain
        self.route = route
        self.maxForwards = maxForwards
        self.hopMarks = hopMarks
        self.categories = categories
        self.subscriber = subscriber
        target = presentity
        let forms: [UpstreamFormat] = domain.side == .simple ? [.pidf] : [.categories, .msrtc, .pidf]
        format = domain.side == .simple ? .pidf : domain.upstream
        fallbacks = forms.drop { [format] in $0 != format }.dropFirst().map { $0 }
    }

    var nextDeadline: Instant? {
        [subscriber.nextDeadline, staleAt, startsAt].compactMap { $0 }.min()
    }

    /// Takes the next form after a refusal that means "not in this form" (MS-PRES 1.3.3); false: there is none.
    func fallBack(after status: Int) -> Bool {
        guard [406, 415, 420, 421, 488, 489].contains(status), !fallbacks.isEmpty else { return false }
        format = fallbacks.removeFirst()
        target = presentity
        isBatch = false
        return true
    }

    /// Follows `state="resubscribe"` (MS-PRES 3.4.5.1.3.1), once: to the pool that it names, else by a single subscription to the
    /// presentity's own URI. False: one was followed already.
    func follow(poolFqdn: String?) -> Bool {
        guard !hasFollowed, format == .categories else { return false }
        hasFollowed = true
        if let poolFqdn, let pool = SIPURI(poolFqdn), pool.scheme == .sip || pool.scheme == .sips {
            target = pool
            isBatch = true
            return true
        }
        target = presentity
        isBatch = false
        return true
    }

    // MARK: the SUBSCRIBE

    var accept: String {
        switch format {
        case .categories: "\(WatcherFormat.categoriesType), \(WatcherFormat.rlmiType), \(WatcherFormat.relatedType)"
        case .msrtc: WatcherFormat.msrtcType
        case .pidf: WatcherFormat.pidfType
        }
    }

    /// Writes what makes the request a presence subscription of the chosen form (MS-PRES 2.2.2.4.1, 2.2.2.8.1, RFC 3856 6).
    func describe(_ request: inout SIPRequest, expires: Int, reliable: Bool) {
        request.headers.set(.event, EventPackage.presence.token)
        request.headers.set(.expires, String(expires))
        request.headers.set(.accept, accept)
        guard domain.side == .enterprise, format != .pidf else { return }
        request.headers.append(.supported, "ms-piggyback-first-notify")
        if reliable && domain.network == .sameEnterprise {
            request.headers.append(.supported, "ms-benotify")
            request.headers.append(.proxyRequire, "ms-benotify")
        }
        guard format == .categories else { return }
        request.headers.append(.supported, "eventlist")
        if isBatch { request.headers.append(.require, "adhoclist, categoryList") }
        guard expires > 0 || request.headers.toTag == nil else { return }
        request.headers.set(.contentType, WatcherFormat.batchSubscribeType)
        let document = BatchSubscribeDocument(
            uri: watcher.description, name: watcher.description,
            actions: [
                BatchSubscribeAction(
                    name: .subscribe, id: "1", resources: [BatchSubscribeResource(uri: presentity.description)], categories: categories)
            ])
        request.body = document.encoded()
    }
}
