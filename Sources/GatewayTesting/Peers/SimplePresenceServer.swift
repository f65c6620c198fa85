import SIPCore

/// A presence server of the SIMPLE family: PIDF for every presentity (RFC 3856).
public final class SimplePresenceServer: ScriptedNotifier {
    private var documents: [String: [UInt8]] = [:]
    /// What is published to it; the newest publication of a presentity is what its watchers see.
    public let compositor = ScriptedCompositor()

    /// Replaces a presentity's document and tells its watchers; nil: it publishes nothing any more.
    public func set(_ presentity: String, _ document: String?, at now: Instant) {
        documents[SIPURI(presentity)?.aorKey ?? presentity] = document.map { Array($0.utf8) }
        changed(presentity, at: now)
    }

    override func answer(_ request: SIPRequest, from source: InboundMessage, at now: Instant) -> SIPResponse? {
        guard request.method == .publish else { return super.answer(request, from: source, at: now) }
        defer { expire(at: now) }
        return compositor.answer(request, tag: token(), at: now, changed: { show($0, at: now) }, fault: { fault($0) })
    }

    private func expire(at now: Instant) {
        for presentity in compositor.expire(at: now) { show(presentity, at: now) }
        if let lapse = compositor.nextLapse { schedule(at: lapse) { [weak self] in self?.expire(at: $0) } }
    }

    private func show(_ presentity: String, at now: Instant) {
        set(presentity, compositor.documents(of: presentity).last, at: now)
    }

    override func objection(to request: SIPRequest) -> SIPStatus? {
        let pidf = MediaType("application", "pidf+xml")
        let accept = request.headers.accept
        return accept.isEmpty || accept.contains { $0.accepts(pidf) } ? nil : .notAcceptable
    }

    override func body(for dialog: Dialog) -> (contentType: String, bytes: [UInt8])? {
        let key = SIPURI(dialog.presentity)?.aorKey ?? dialog.presentity
        return documents[key].map { ("application/pidf+xml", $0) }
    }
}

/// PIDF documents as text, written by hand on purpose.
public enum SimpleDocuments {
    /// One tuple and one person.
    public static func pidf(
        of presentity: String, _ basic: String, activities: [String] = [], note: String? = nil, displayName: String? = nil
    ) -> String {
        let elements = activities.map { "<rpid:\($0)/>" }.joined()
        let activitiesText = activities.isEmpty ? "" : "<rpid:activities>\(elements)</rpid:activities>"
        let noteText = note.map { "<dm:note>\(EnhancedDocuments.escape($0))</dm:note>" } ?? ""
        let person = "<dm:person id=\"p1\">\(activitiesText)\(noteText)</dm:person>"
        let name = displayName.map { "<ci:display-name>\(EnhancedDocuments.escape($0))</ci:display-name>" } ?? ""
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <presence xmlns="urn:ietf:params:xml:ns:pidf" xmlns:dm="urn:ietf:params:xml:ns:pidf:data-model" \
            xmlns:rpid="urn:ietf:params:xml:ns:pidf:rpid" xmlns:ci="urn:ietf:params:xml:ns:pidf:cipid" \
            entity="\(EnhancedDocuments.escape(presentity))"><tuple id="t1"><status><basic>\(basic)</basic></status>\(name)</tuple>\
            \(person)</presence>
            """
    }
}
