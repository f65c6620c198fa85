import PresenceDocuments
import SIPCore
import XMLCore

/// SIMPLE presence server: PIDF for every presentity (RFC 3856), differences for watchers that accept them (RFC 5263), and lists (RFC 4662,
/// RFC 5367).
package final class SimplePresenceServer: ScriptedNotifier {
    /// Fault in a notification; each entry of `blunders` is used once.
    package enum Blunder: Sendable {
        /// Skips a version number, as if a notification were lost.
        case skipsVersion
        /// Repeats the previous notification; the change follows later.
        case repeatsLast
        /// Sends an operation on an element that does not exist.
        case breaksPatch
    }

    private var documents: [String: [UInt8]] = [:]
    /// Publications; watchers see the newest publication of a presentity.
    package let compositor = ScriptedCompositor()
    private var lapseAlarm: UInt64?
    /// Whether differences are sent to watchers that accept them.
    package var sendsDifferences = true
    /// Faults of the next notifications with differences, and of partial list notifications.
    package var blunders: [Blunder] = []
    /// Whether a SUBSCRIBE that also accepts differences gets 406, as from a server that compares Accept as a whole.
    package var refusesDifferences = false
    /// Number of differences sent.
    package private(set) var differences = 0
    /// Watchers that are politely blocked: they get 200 and notifications without a body.
    package var blockedPolitely: Set<String> = []
    let service = ScriptedListService()

    /// Lists that the server serves.
    package var lists: ScriptedListService { service }

    private struct Notified {
        var version: UInt32 = 0
        var document: [UInt8]?
        var last: [UInt8] = []
    }
    private var notified: [String: Notified] = [:]

    /// Replaces a presentity's document; nil removes it.
    /// - Parameter isNotified: Whether its watchers are notified.
    package func set(_ presentity: String, _ document: String?, isNotified: Bool = true, at now: Instant) {
        documents[SIPURI.key(of: presentity)] = document.map { Array($0.utf8) }
        if isNotified { changed(presentity, at: now) }
    }

    override func answer(_ request: SIPRequest, from source: InboundMessage, at now: Instant) -> SIPResponse? {
        guard request.method == .publish else { return super.answer(request, from: source, at: now) }
        defer { expire(at: now) }
        return compositor.answer(request, tag: token(), at: now, changed: { show($0, at: now) }, fault: { fault($0) })
    }

    private func expire(at now: Instant) {
        for presentity in compositor.expire(at: now) { show(presentity, at: now) }
        cancel(lapseAlarm)
        lapseAlarm = compositor.nextLapse.map { lapse in schedule(at: lapse) { [unowned self] in expire(at: $0) } }
    }

    private func show(_ presentity: String, at now: Instant) {
        set(presentity, compositor.documents(of: presentity).last, at: now)
    }

    /// Changes a presentity's state in lists and notifies its watchers; nil restores the active state.
    package func setInstanceState(_ presentity: String, _ instanceState: ScriptedListService.InstanceState?, at now: Instant) {
        service.instanceStates[SIPURI.key(of: presentity)] = instanceState
        changed(presentity, at: now)
    }

    // MARK: Dialect

    override func objection(to request: SIPRequest) -> SIPStatus? {
        let pidf = MediaType("application", "pidf+xml")
        let accept = request.headers.accept
        if refusesDifferences, accepts(request) { return .notAcceptable }
        guard accept.isEmpty || accept.contains(where: { $0.accepts(pidf) }) else { return .notAcceptable }
        return service.isList(request) ? service.objection(to: request) : nil
    }

    override func accepted(_ dialog: Dialog) {
        // The first notification after a SUBSCRIBE is full (RFC 5263 4.4).
        notified[dialog.parties.localTag]?.document = nil
        if service.members(of: dialog) != nil, !dialog.request.body.isEmpty { fault("a SUBSCRIBE in a dialog with a list (RFC 5367 4)") }
        service.accepted(dialog)
    }

    override func piggyback(_ response: inout SIPResponse, _ dialog: Dialog, state: SubscriptionState) -> Bool {
        if service.members(of: dialog) != nil { response.headers.append(.require, "eventlist") }
        return false
    }

    override func dress(_ notify: inout SIPRequest, for dialog: Dialog) {
        if service.members(of: dialog) != nil { notify.headers.append(.require, "eventlist") }
    }

    override func watches(_ dialog: Dialog, _ presentity: String) -> Bool {
        super.watches(dialog, presentity) || service.members(of: dialog)?.contains { same($0, presentity) } == true
    }

    override func body(for dialog: Dialog) -> (contentType: String, bytes: [UInt8])? {
        if dialog.takeMustRepeat() {
            notified[dialog.parties.localTag]?.document = nil
            service.accepted(dialog)
        }
        if let members = service.members(of: dialog) {
            var documents: [String: [UInt8]] = [:]
            for member in members { documents[member] = self.documents[SIPURI.key(of: member)] }
            let isSkipping = blunders.first.map { if case .skipsVersion = $0 { true } else { false } } ?? false
            let body = service.body(for: dialog, documents: documents, skipsVersion: isSkipping)
            if isSkipping, !body.isFull { blunders.removeFirst() }
            return (body.contentType, body.bytes)
        }
        guard !blockedPolitely.contains(where: { same($0, dialog.parties.watcher) }),
            let document = documents[SIPURI.key(of: dialog.presentity)]
        else {
            notified[dialog.parties.localTag]?.document = nil
            return nil
        }
        guard sendsDifferences, accepts(dialog.request), let root = try? XMLTree.parse(document).root else {
            return ("application/pidf+xml", document)
        }
        return ("application/pidf-diff+xml", partial(root, document, for: dialog))
    }

    private func accepts(_ request: SIPRequest) -> Bool {
        request.headers.accept.contains { $0.essence == "application/pidf-diff+xml" }
    }

    private func partial(_ root: XMLElement, _ document: [UInt8], for dialog: Dialog) -> [UInt8] {
        var notified = self.notified[dialog.parties.localTag] ?? Notified()
        defer { self.notified[dialog.parties.localTag] = notified }
        let before = notified.document.flatMap { try? XMLTree.parse($0).root }
        if before != nil, case .repeatsLast? = blunders.first {
            blunders.removeFirst()
            return notified.last
        }
        notified.document = document
        notified.last = next(root, after: before, &notified)
        return notified.last
    }

    private func next(_ root: XMLElement, after before: XMLElement?, _ notified: inout Notified) -> [UInt8] {
        guard let before, let difference = PartialPIDF(from: before, to: root) else {
            notified.version += 1
            return PartialPIDF(full: root).encoded(version: notified.version)
        }
        differences += 1
        notified.version += 1
        guard !blunders.isEmpty else { return difference.encoded(version: notified.version) }
        switch blunders.removeFirst() {
        case .skipsVersion: notified.version += 1
        case .repeatsLast: return notified.last
        case .breaksPatch:
            return Array(
                """
                <p:pidf-diff xmlns="urn:ietf:params:xml:ns:pidf" xmlns:p="urn:ietf:params:xml:ns:pidf-diff" version="\(notified.version)">\
                <p:remove sel="*/tuple[@id='nobody']"/></p:pidf-diff>
                """.utf8)
        }
        return difference.encoded(version: notified.version)
    }
}
