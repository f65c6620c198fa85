import SIPCore

/// An enterprise presence server for single category subscriptions, msrtc.pidf and PIDF (MS-PRES 3.4.5, 3.7.5).
public final class EnhancedServer: ScriptedNotifier {
    public enum Form: Sendable { case categories, msrtc, pidf }

    private var states: [String: EnhancedState] = [:]
    /// Puts the first notification into the 200 where that is offered (MS-SIP 3.4).
    public var piggybacks = true
    /// Uses BENOTIFY where that is offered (MS-SIP 3.5).
    public var usesBenotify = false
    /// The forms that it speaks, others get 406.
    public var forms: [Form] = [.categories, .msrtc, .pidf]
    /// Presentities that live elsewhere, with the pool's GRUU where it is known (MS-PRES 3.4.5.1.3.1).
    public var elsewhere: [String: String?] = [:]

    /// Replaces what a presentity shows and tells its watchers.
    public func set(_ presentity: String, _ state: EnhancedState?, at now: Instant) {
        states[SIPURI(presentity)?.aorKey ?? presentity] = state
        changed(presentity, at: now)
    }

    /// The choice of MS-PRES 1.3.3, by Accept and not by q.
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

    override func objection(to request: SIPRequest) -> SIPStatus? {
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
        // A single SUBSCRIBE names the user that it is sent to; a batch goes to a pool, from the watcher to itself.
        let isBatch = request.headers.hasToken(.require, "adhoclist") && request.headers.hasToken(.require, "categoryList")
        if !isBatch, !same(resource, request.headers.to?.uri.description ?? "") {
            fault("batchSub names \(resource), To \(request.headers.to?.uri.description ?? "nobody") (MS-PRES 3.4.5.3)")
            return .badRequest
        }
        if isBatch, !same(request.headers.from?.uri.description ?? "", request.headers.to?.uri.description ?? "") {
            fault("a batch whose From and To differ (MS-PRES 3.4.5.3)")
            return .forbidden
        }
        return nil
    }

    override func presentity(of request: SIPRequest) -> String { EnhancedDocuments.resource(request.body) ?? request.requestURI }

    /// Whether a dialog asks here for somebody of another pool, and not that pool itself.
    private func isElsewhere(_ dialog: Dialog) -> Bool {
        elsewhere.contains { same($0.key, dialog.presentity) && $0.value != dialog.pool }
    }

    private func state(of dialog: Dialog) -> EnhancedState? { states[SIPURI(dialog.presentity)?.aorKey ?? dialog.presentity] }

    private func wantedCategories(_ dialog: Dialog) -> [String] {
        let text = String(decoding: dialog.request.body, as: UTF8.self)
        return ["state", "note", "contactCard", "services", "calendarData"].filter { text.contains("\"\($0)\"") }
    }

    private static let published = "2026-01-05T09:00:00.000"

    private func allCategories(_ dialog: Dialog) -> [UInt8] {
        let document = EnhancedDocuments.categories(
            state(of: dialog), of: dialog.presentity, names: wantedCategories(dialog), published: Self.published)
        return Array(document.utf8)
    }

    override func piggyback(_ response: inout SIPResponse, _ dialog: Dialog, state: SubscriptionState) -> Bool {
        let offered = dialog.request.headers.hasToken(.supported, "ms-piggyback-first-notify")
        let form = form(of: dialog.request) ?? .pidf
        let isElsewhere = isElsewhere(dialog)
        guard piggybacks, offered, !manners.isPending, form != .pidf || isElsewhere else { return false }
        if form == .msrtc {
            response.headers.set(.contentType, "text/xml+msrtc.pidf")
            response.body = Array(EnhancedDocuments.msrtc(self.state(of: dialog), of: dialog.presentity).utf8)
        } else {
            let (type, body) = multipart(dialog)
            response.headers.set(.contentType, type)
            response.headers.set(.require, "eventlist")
            response.body = body
        }
        dialog.lastSaid = self.state(of: dialog)
        response.headers.append(.supported, "ms-piggyback-first-notify")
        if usesBenotify && dialog.request.headers.hasToken(.supported, "ms-benotify") { response.headers.append(.supported, "ms-benotify") }
        response.headers.set(.event, "presence")
        response.headers.set(.msPiggybackCSeq, "\(dialog.remoteCSeq)")
        if isElsewhere {
            // Every resource rejected: no dialog (MS-PRES 4.6).
            response.headers.set(.expires, "0")
            drop(dialog)
        }
        let isOver = isElsewhere || state.state == .terminated
        response.headers.set(.subscriptionState, isOver ? "terminated;expires=0" : state.description)
        return true
    }

    private func multipart(_ dialog: Dialog) -> (String, [UInt8]) {
        let place = isElsewhere(dialog) ? elsewhere.first { same($0.key, dialog.presentity) } : nil
        let list = EnhancedDocuments.resourceList(
            watcher: dialog.watcher, elsewhere: place == nil ? nil : dialog.presentity, pool: place?.value)
        var text =
            "--part\r\nContent-Transfer-Encoding: binary\r\nContent-ID: resourceList\r\nContent-Type: application/rlmi+xml\r\n\r\n"
            + list + "\r\n\r\n"
        if place == nil {
            text +=
                "--part\r\nContent-Transfer-Encoding: binary\r\nContent-Type: application/msrtc-event-categories+xml\r\n\r\n"
                + String(decoding: allCategories(dialog), as: UTF8.self) + "\r\n\r\n"
        }
        text += "--part--\r\n"
        return ("multipart/related; type=\"application/rlmi+xml\"; start=resourceList; boundary=part", Array(text.utf8))
    }

    override func body(for dialog: Dialog) -> (contentType: String, bytes: [UInt8])? {
        let current = state(of: dialog)
        defer { dialog.lastSaid = current }
        switch form(of: dialog.request) ?? .pidf {
        case .msrtc: return ("text/xml+msrtc.pidf", Array(EnhancedDocuments.msrtc(current, of: dialog.presentity).utf8))
        case .pidf: return ("application/pidf+xml", Array(EnhancedDocuments.pidf(current, of: dialog.presentity).utf8))
        case .categories:
            if dialog.localCSeq == 1 && dialog.lastSaid == nil { return multipart(dialog) }
            // All instances of each changed category, and no other category (MS-PRES 3.2.5.3).
            let before = dialog.lastSaid
            var names: [String] = []
            if before?.availability != current?.availability || before?.token != current?.token { names.append("state") }
            if before?.note != current?.note { names.append("note") }
            if before?.displayName != current?.displayName { names.append("contactCard") }
            names = names.filter(wantedCategories(dialog).contains)
            if names.isEmpty { return dialog.ending == nil ? ("application/msrtc-event-categories+xml", allCategories(dialog)) : nil }
            let document = EnhancedDocuments.categories(current, of: dialog.presentity, names: names, published: Self.published)
            return ("application/msrtc-event-categories+xml", Array(document.utf8))
        }
    }

    override func dress(_ notify: inout SIPRequest, for dialog: Dialog) {
        guard form(of: dialog.request) == .categories else { return }
        notify.headers.append(.require, "eventlist")
        if usesBenotify, dialog.request.headers.hasToken(.supported, "ms-benotify") { notify.method = .benotify }
    }
}
