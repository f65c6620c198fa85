import FederationRouting
import PresenceDocuments
import Registration
import SIPCore
import SIPEvents

/// Lists of live state for operators, in pages of bounded length and stable order. They change nothing.
extension ShardInspection {
    /// The live subscriptions of this shard, ordered by watcher, presentity and dialog; a batch or list has one row per resource.
    /// - Parameters:
    ///   - limit: maximum number of rows, 1 to ``inspectionPageLimit``.
    ///   - after: `next` of the previous page; an invalid cursor starts from the beginning.
    func subscriptions(
        matching filter: SubscriptionFilter = SubscriptionFilter(), limit: Int = 100, after cursor: String? = nil, at now: Instant
    ) -> InspectionPage<SubscriptionReport> {
        flows.subscriptions.rows(matching: canonical(filter), limit: min(limit, inspectionPageLimit), after: cursor, at: now)
    }

    /// The filter with canonical keys in place of aliases.
    private func canonical(_ filter: SubscriptionFilter) -> SubscriptionFilter {
        var canonical = filter
        canonical.watcher = canonicalKey(filter.watcher)
        canonical.presentity = canonicalKey(filter.presentity)
        canonical.domain = canonicalDomain(filter.domain)
        return canonical
    }

    private func canonicalKey(_ text: String?) -> String? { text.map { SIPURI($0).map { canonicalKey(of: $0) } ?? $0 } }

    private func canonicalDomain(_ name: String?) -> String? { name.map { configuration.identities.domain(SIPURI(host: $0).domainKey) } }

    /// The presentities of this shard, ordered by address: those with a record here, and those that are watched elsewhere.
    func presentities(
        matching filter: PresentityFilter = PresentityFilter(), limit: Int = 100, after cursor: String? = nil, at now: Instant
    ) -> InspectionPage<PresentityReport> {
        let (wanted, domain) = (canonicalKey(filter.presentity), canonicalDomain(filter.domain))
        var first = FirstRows<String, Void>(limit: min(limit, inspectionPageLimit), after: cursor)
        func offer(_ key: String, _ state: PresentityReport.State) {
            guard wanted ?? key == key, filter.state ?? state == state, domain.map({ key.isIn(domain: $0) }) ?? true
            else { return }
            first.offer(key, ())
        }
        for record in flows.presentities.table.all where record.look == nil {
            offer(record.key, record.publicationCount > 0 ? .published : .silent)
        }
        for key in relayedKeys { offer(key, .carried) }
        for key in flows.presenceSubscriptions.dialogsOfPresentity.keys
        where flows.presentities.record(key) == nil && !isRelayed(key) { offer(key, .far) }
        return InspectionPage(
            rows: first.rows.map { report(of: $0.key) }, next: first.hasMore ? first.rows.last?.key : nil)
    }

    private func report(of key: String) -> PresentityReport {
        let record = flows.presentities.record(key)
        return PresentityReport(
            presentity: key, state: record.map { $0.publicationCount > 0 ? .published : .silent } ?? (isRelayed(key) ? .carried : .far),
            watchers: flows.presenceSubscriptions.dialogsOfPresentity[key] ?? 0,
            publications: record?.publicationCount ?? flows.publications.publicationCount(of: key),
            ownDialogs: flows.subscriptions.dialogs.about(key).count, endpoints: flows.homeServer.home.registrar.bindings(of: key).count)
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
