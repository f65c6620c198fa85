import SIPCore

/// Enterprise presence server for single and batch category subscriptions, msrtc.pidf and PIDF (MS-PRES 3.4.5, 3.7.5).
///
/// Serves all pools of its enterprise; the Request-URI names the pool.
package final class EnhancedServer: ScriptedNotifier {
    /// Document format of a subscription.
    package enum Form: Sendable { case categories, msrtc, pidf }

    private var states: [String: EnhancedState] = [:]
    /// Whether the first notification is sent in the 200 when the watcher offers it (MS-SIP 3.4).
    package var piggybacks = true
    /// Whether BENOTIFY is used when the watcher offers it (MS-SIP 3.5).
    package var usesBenotify = false
    /// Supported formats; a SUBSCRIBE for other formats gets 406.
    package var forms: [Form] = [.categories, .msrtc, .pidf]
    /// Whether batches are accepted; otherwise they get 420.
    package var takesBatches = true
    /// Limit of resources in one batch dialog; above it a SUBSCRIBE gets 413 (MS-PRES 3.4.5.1.3).
    package var batchLimit = Int.max
    /// Presentities at another pool, with the pool's GRUU where it is known (MS-PRES 3.4.5.1.3.1).
    package var elsewhere: [String: String?] = [:]
    /// Redirects every subscription with `resubscribe` to the returned pool for its Request-URI; nil redirects none.
    package var sendsOn: ((_ requestURI: String) -> String?)?
    /// Instance states that replace the presence of presentities.
    var instanceStates: [String: EnhancedDocuments.InstanceState] = [:]

    /// Store of publications by SERVICE.
    package let home = ScriptedHome()
    private var endAlarm: UInt64?

    override func answer(_ request: SIPRequest, from source: InboundMessage, at now: Instant) -> SIPResponse? {
        guard request.method == .service else { return super.answer(request, from: source, at: now) }
        defer { expire(at: now) }
        return home.answer(request, tag: token(), at: now, changed: { set($0, home.shown($0), at: now) }, fault: { fault($0) })
    }

    private func expire(at now: Instant) {
        for user in home.expire(at: now) { set(user, home.shown(user), at: now) }
        cancel(endAlarm)
        endAlarm = home.nextEnd.map { end in schedule(at: end) { [unowned self] in expire(at: $0) } }
    }

    /// Replaces the presence of a presentity and notifies its watchers.
    package func set(_ presentity: String, _ state: EnhancedState?, at now: Instant) {
        states[SIPURI.key(of: presentity)] = state
        changed(presentity, at: now)
    }

    package func state(of presentity: String) -> EnhancedState? { states[SIPURI.key(of: presentity)] }

    /// Chooses the format by Accept in the order of MS-PRES 1.3.3, without regard to q.
    private func form(of request: SIPRequest) -> Form? {
        let accept = request.headers.accept
        for form in [Form.categories, .msrtc, .pidf] where forms.contains(form) {
            let wanted =
                switch form {
                case .categories: MediaType("application", "msrtc-event-categories+xml")
                case .msrtc: MediaType("text", "xml+msrtc.pidf")
                case .pidf: MediaType("application", "pidf+xml")
                }
            if accept.contains(where: { $0.isSame(as: wanted) }) { return form }
        }
        return nil
    }

    static func isBatch(_ request: SIPRequest) -> Bool {
        request.headers.hasToken(.require, "adhoclist") && request.headers.hasToken(.require, "categoryList")
    }

    override func objection(to request: SIPRequest) -> SIPStatus? {
        if Self.isBatch(request), !takesBatches { return .badExtension }
        guard let form = form(of: request) else { return .notAcceptable }
        guard form == .categories else { return nil }
        if request.body.isEmpty || request.headers.contentType?.essence != "application/msrtc-adrl-categorylist+xml" {
            fault("a category SUBSCRIBE without batchSub (MS-PRES 3.4.5.3)")
            return .badRequest
        }
        guard let resource = EnhancedDocuments.resource(request.body) else {
            fault("a category SUBSCRIBE that names no resource (MS-PRES 3.4.5.3)")
            return .badRequest
        }
        // A single SUBSCRIBE names the user in To; a batch goes to a pool, with the watcher in From and To.
        if !Self.isBatch(request), !same(resource, request.headers.to?.uri.description ?? "") {
            fault("batchSub names \(resource), To \(request.headers.to?.uri.description ?? "nobody") (MS-PRES 3.4.5.3)")
            return .badRequest
        }
        if Self.isBatch(request), !same(request.headers.from?.uri.description ?? "", request.headers.to?.uri.description ?? "") {
            fault("a batch whose From and To differ (MS-PRES 3.4.5.3)")
            return .forbidden
        }
        return nil
    }

    override func presentity(of request: SIPRequest) -> String {
        EnhancedDocuments.resource(request.body) ?? request.requestURI
    }

    override func watches(_ dialog: Dialog, _ presentity: String) -> Bool {
        guard let batch = dialog.batch else { return same(dialog.presentity, presentity) }
        return batch.resources.contains { same($0.uri, presentity) }
    }

    override func change(_ dialog: Dialog, by request: SIPRequest) -> SIPStatus? { changeBatch(dialog, by: request) }

    override func hasMore(_ dialog: Dialog) -> Bool { hasMoreOfBatch(dialog) }

    /// Instance state sent instead of presence to a subscriber at this Request-URI; nil when presence is sent.
    func instanceState(on presentity: String, askedAt pool: String) -> EnhancedDocuments.InstanceState? {
        if let sendsOn { return sendsOn(pool).map { .elsewhere(pool: $0) } }
        if let place = elsewhere.first(where: { same($0.key, presentity) }), place.value != pool,
            !(place.value == nil && same(pool, presentity))
        {
            return .elsewhere(pool: place.value)
        }
        return instanceStates.first { same($0.key, presentity) }?.value
    }

    private func wantedCategories(_ dialog: Dialog) -> [String] {
        EnhancedDocuments.actions(dialog.request.body).flatMap(\.categories)
    }

    private static let published = "2026-01-05T09:00:00.000"

    func categories(_ presentity: String, _ names: [String]) -> String {
        EnhancedDocuments.categories(state(of: presentity), of: presentity, names: names, published: Self.published)
    }

    // MARK: notifications

    override func piggyback(_ response: inout SIPResponse, _ dialog: Dialog, state: SubscriptionState) -> Bool {
        let offered = dialog.request.headers.hasToken(.supported, "ms-piggyback-first-notify")
        let form = form(of: dialog.request) ?? .pidf
        let instanceState = dialog.batch == nil ? instanceState(on: dialog.presentity, askedAt: dialog.parties.pool) : nil
        guard piggybacks, offered, !manners.isPending, form != .pidf || instanceState != nil else { return false }
        if state.state == .terminated, dialog.batch != nil, dialog.request.body.isEmpty { return false }
        var isOver = state.state == .terminated
        if form == .msrtc {
            response.headers.set(.contentType, "text/xml+msrtc.pidf")
            response.body = Array(EnhancedDocuments.msrtc(self.state(of: dialog.presentity), of: dialog.presentity).utf8)
        } else {
            let (type, body) = multipart(dialog)
            response.headers.set(.contentType, type)
            response.headers.set(.require, "eventlist")
            response.body = body
            // Every resource rejected: no dialog is created (MS-PRES 4.6).
            isOver = isOver || instanceState != nil || dialog.batch?.resources.isEmpty == true
        }
        dialog.lastSaid = self.state(of: dialog.presentity)
        response.headers.append(.supported, "ms-piggyback-first-notify")
        if usesBenotify && dialog.request.headers.hasToken(.supported, "ms-benotify") { response.headers.append(.supported, "ms-benotify") }
        response.headers.set(.event, "presence")
        // CSeq of the NOTIFY that the 200 replaces (MS-SIP 3.4.5.1).
        dialog.advanceCSeq()
        response.headers.set(.msPiggybackCSeq, "\(dialog.localCSeq)")
        if isOver {
            response.headers.set(.expires, "0")
            drop(dialog)
        }
        response.headers.set(.subscriptionState, isOver ? "terminated;expires=0" : state.description)
        return true
    }

    /// Resource list and the documents of the accepted resources (MS-PRES 2.2.2.4.2).
    private func multipart(_ dialog: Dialog) -> (String, [UInt8]) {
        if dialog.batch != nil { return batchAnswer(dialog) }
        if let instanceState = instanceState(on: dialog.presentity, askedAt: dialog.parties.pool) {
            return Self.related(dialog, [(dialog.presentity, instanceState)], [])
        }
        return Self.related(dialog, [], [categories(dialog.presentity, wantedCategories(dialog))])
    }

    static func related(
        _ dialog: Dialog, _ instanceStates: [(uri: String, instanceState: EnhancedDocuments.InstanceState)], _ documents: [String]
    ) -> (String, [UInt8]) {
        let list = EnhancedDocuments.resourceList(watcher: dialog.parties.watcher, instanceStates)
        var text =
            "--part\r\nContent-Transfer-Encoding: binary\r\nContent-ID: resourceList\r\nContent-Type: application/rlmi+xml\r\n\r\n"
            + list + "\r\n\r\n"
        for document in documents {
            text +=
                "--part\r\nContent-Transfer-Encoding: binary\r\nContent-Type: application/msrtc-event-categories+xml\r\n\r\n"
                + document + "\r\n\r\n"
        }
        text += "--part--\r\n"
        return ("multipart/related; type=\"application/rlmi+xml\"; start=resourceList; boundary=part", Array(text.utf8))
    }

    /// Names of the changed categories among the wanted ones (MS-PRES 3.2.5.3).
    static func changes(_ before: EnhancedState?, _ now: EnhancedState?, among wanted: [String]) -> [String] {
        var names: [String] = []
        if before?.availability != now?.availability || before?.token != now?.token { names.append("state") }
        if before?.note != now?.note { names.append("note") }
        if before?.displayName != now?.displayName { names.append("contactCard") }
        return names.filter(wanted.contains)
    }

    override func body(for dialog: Dialog) -> (contentType: String, bytes: [UInt8])? {
        if dialog.batch != nil { return batchBody(dialog) }
        let current = state(of: dialog.presentity)
        defer { dialog.lastSaid = current }
        switch form(of: dialog.request) ?? .pidf {
        case .msrtc: return ("text/xml+msrtc.pidf", Array(EnhancedDocuments.msrtc(current, of: dialog.presentity).utf8))
        case .pidf: return ("application/pidf+xml", Array(EnhancedDocuments.pidf(current, of: dialog.presentity).utf8))
        case .categories:
            if dialog.localCSeq == 1 && dialog.lastSaid == nil { return multipart(dialog) }
            let wanted = wantedCategories(dialog)
            let names = Self.changes(dialog.lastSaid, current, among: wanted)
            if names.isEmpty, dialog.ending != nil { return nil }
            return (
                "application/msrtc-event-categories+xml", Array(categories(dialog.presentity, names.isEmpty ? wanted : names).utf8)
            )
        }
    }

    override func dress(_ notify: inout SIPRequest, for dialog: Dialog) {
        guard form(of: dialog.request) == .categories else { return }
        notify.headers.append(.require, "eventlist")
        if usesBenotify, dialog.request.headers.hasToken(.supported, "ms-benotify") { notify.method = .benotify }
    }
}
