import FederationRouting
import SIPCore

/// Reports of a shard for operators, composed of the answers of its parts; it knows none of them by name. Reports change nothing.
final class ShardInspection: ShardMember {
    let kernel: GatewayKernel
    let context: ShardContext
    /// The parts, in the order of the tables.
    private let parts: [any Inspectable]

    init(_ kernel: GatewayKernel, _ context: ShardContext, _ parts: [any Inspectable]) {
        self.kernel = kernel
        self.context = context
        self.parts = parts + [KernelInspection(kernel, context)]
    }

    // MARK: metrics

    /// Numbers of live dialogs, publications and other entries.
    var counts: GatewayCounts { parts.reduce(into: GatewayCounts()) { $1.count(in: &$0) } }

    /// Counters, counts and table sizes of this shard at one moment.
    var numbers: GatewayNumbers { GatewayNumbers(counters: counters, counts: counts, tables: parts.flatMap(\.tables)) }

    /// Number of entries of each table, by name, for tests of growth. All tables are empty when all dialogs, publications and
    /// transactions have ended and no user data is kept.
    var tableSizes: [String: Int] { parts.reduce(into: [:]) { $0.merge($1.sizes) { $1 } } }

    // MARK: lists

    /// The live subscriptions of this shard, ordered by watcher, presentity and dialog; a batch or list has one row per resource.
    /// - Parameters:
    ///   - limit: maximum number of rows, 1 to ``inspectionPageLimit``.
    ///   - after: `next` of the previous page; an invalid cursor starts from the beginning.
    func subscriptions(
        matching filter: SubscriptionFilter = SubscriptionFilter(), limit: Int = 100, after cursor: String? = nil, at now: Instant
    ) -> InspectionPage<SubscriptionReport> {
        let wanted = canonical(filter)
        var first = SubscriptionRows(limit: min(limit, inspectionPageLimit), after: cursor.flatMap { SubscriptionKey(cursor: $0) })
        for part in parts { part.offer(to: &first, matching: wanted, at: now) }
        return InspectionPage(rows: first.rows.map { $0.row() }, next: first.hasMore ? first.rows.last?.key.cursor : nil)
    }

    /// The filter with canonical keys in place of aliases.
    private func canonical(_ filter: SubscriptionFilter) -> SubscriptionFilter {
        var canonical = filter
        canonical.watcher = canonicalKey(filter.watcher)
        canonical.presentity = canonicalKey(filter.presentity)
        canonical.domain = canonicalDomain(filter.domain)
        return canonical
    }

    private func canonicalKey(_ text: String?) -> String? { text.map { SIPURI($0).map { configuration.canonical($0).aorKey } ?? $0 } }

    private func canonicalDomain(_ name: String?) -> String? { name.map { configuration.identities.domain(SIPURI(host: $0).domainKey) } }

    /// The presentities of this shard, ordered by address: those with a record here, and those that are watched elsewhere.
    func presentities(
        matching filter: PresentityFilter = PresentityFilter(), limit: Int = 100, after cursor: String? = nil, at now: Instant
    ) -> InspectionPage<PresentityReport> {
        let (wanted, domain) = (canonicalKey(filter.presentity), canonicalDomain(filter.domain))
        var first = FirstRows<String, PresentityReport.State>(limit: min(limit, inspectionPageLimit), after: cursor)
        for part in parts {
            part.forEachPresentity { key in
                guard wanted ?? key == key, domain.map({ key.isIn(domain: $0) }) ?? true, let state = state(ofPresentity: key),
                    filter.state ?? state == state, part.state(ofPresentity: key) == state
                else { return }
                first.offer(key, state)
            }
        }
        let rows = first.rows.map { row in
            parts.reduce(into: PresentityReport(presentity: row.key, state: row.row)) { $1.describe(row.key, in: &$0) }
        }
        return InspectionPage(rows: rows, next: first.hasMore ? first.rows.last?.key : nil)
    }

    /// The most specific state that a part gives.
    private func state(ofPresentity key: String) -> PresentityReport.State? {
        parts.lazy.compactMap { $0.state(ofPresentity: key) }.min { $0.precedence < $1.precedence }
    }

    // MARK: explain

    /// Explains a watcher's view of a presentity, as far as this shard knows.
    /// - Parameter includingBodies: whether to include the documents that the watcher has.
    func explain(watcher: SIPURI, presentity: SIPURI, includingBodies: Bool = false, at now: Instant) -> Explanation {
        let route = RouteReport(routes.decide(presentity))
        let (watcher, presentity) = (configuration.canonical(watcher), configuration.canonical(presentity))
        let key = presentity.aorKey
        let question = ExplainQuestion(
            watcher: watcher, presentity: presentity, includingBodies: includingBodies,
            isHome: place.has(key) && configuration.domain(presentity.domainKey)?.hosted == true, state: state(ofPresentity: key))
        var explanation = Explanation(watcher: party(watcher), presentity: party(presentity), route: route)
        for part in parts { part.explain(question, in: &explanation, at: now) }
        let entries = journal.newestFirst.lazy.filter { $0.isAbout(watcher: watcher.aorKey, presentity: key) }
        explanation.complete(journal: Array(entries.prefix(10)))
        return explanation
    }

    private func party(_ uri: SIPURI) -> PartyReport {
        let domain = configuration.domain(uri.domainKey).flatMap { $0.refuse == nil ? $0 : nil }
        var isUser: Bool?
        if let domain, domain.hosted, domain.side == .enterprise, directory.state != .none { isUser = directory.has(uri.aorKey) }
        return PartyReport(
            uri: uri.aorKey, side: domain?.side.rawValue, network: domain?.network.rawValue, isHosted: domain?.hosted ?? false,
            isUser: isUser)
    }
}

extension PresentityReport.State {
    /// A presentity with several states has the one of the lowest precedence.
    fileprivate var precedence: Int {
        switch self {
        case .published: 0
        case .silent: 1
        case .carried: 2
        case .far: 3
        }
    }
}

extension SubscriptionFilter {
    func isAbout(watcher: String, presentity: String) -> Bool {
        if let wanted = self.watcher, wanted != watcher { return false }
        if let wanted = self.presentity, wanted != presentity { return false }
        guard let domain else { return true }
        return watcher.isIn(domain: domain) || presentity.isIn(domain: domain)
    }

    func isIn(_ dialog: WatcherDialog, _ subscription: UpstreamSubscription?) -> Bool {
        guard let callID else { return true }
        return dialog.dialog.id.callID == callID || subscription?.callID == callID
    }
}

extension String {
    /// Whether the address of record belongs to the domain.
    fileprivate func isIn(domain: String) -> Bool { hasSuffix("@" + domain) }
}
