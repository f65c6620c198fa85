import SIPCore

/// SIMPLE watcher (RFC 3856).
package final class SimpleWatcher: ScriptedWatcher {
    /// Value of Accept.
    package var accept = "application/pidf+xml"

    override func dress(_ request: inout SIPRequest) {
        request.headers.append(.accept, accept)
    }
}

/// Watcher of the enhanced presence model (MS-PRES 3.4.5.1.1, 3.7.5).
package final class EnhancedWatcher: ScriptedWatcher {
    /// Form of the subscription.
    package enum Form: Sendable {
        /// A single category SUBSCRIBE with these categories.
        case categories([String])
        /// One SUBSCRIBE from the watcher to itself for these resources and categories (MS-PRES 3.4.5.1.1).
        case batch([String], [String])
        /// `text/xml+msrtc.pidf`.
        case msrtc
        /// `application/pidf+xml`.
        case pidf
    }

    /// Form of the next SUBSCRIBE.
    package var form = Form.categories(["state", "note", "contactCard", "services", "calendarData"])
    /// Content of the context element; nil omits it (MS-PRES 2.2.2.4.1).
    package var context: String?
    /// Whether it accepts the first notification in the 200 (MS-SIP 3.4).
    package var offersPiggyback = true
    /// Whether it accepts BENOTIFY (MS-SIP 3.5).
    package var offersBenotify = false

    override func dress(_ request: inout SIPRequest) {
        if request.headers.toTag == nil { (seen, instanceStates) = ([:], [:]) }
        if offersPiggyback { request.headers.append(.supported, "ms-piggyback-first-notify") }
        if offersBenotify {
            request.headers.append(.supported, "ms-benotify")
            request.headers.append(.proxyRequire, "ms-benotify")
        }
        switch form {
        case .categories(let names):
            dress(&request, resources: [presentity], categories: names)
        case .batch(let resources, let names):
            request.headers.append(.require, "adhoclist, categoryList")
            dress(&request, resources: resources, categories: names)
        case .msrtc: request.headers.append(.accept, "text/xml+msrtc.pidf")
        case .pidf: request.headers.append(.accept, "application/pidf+xml")
        }
    }

    private func dress(_ request: inout SIPRequest, resources: [String], categories: [String]) {
        request.headers.append(.accept, "application/msrtc-event-categories+xml, application/rlmi+xml, multipart/related")
        request.headers.append(.supported, "eventlist")
        request.headers.append(.contentType, "application/msrtc-adrl-categorylist+xml")
        request.body = Array(
            EnhancedDocuments.batchSubscribe(
                watcher: watcher, resources: resources, categories: categories, context: context
            ).utf8)
    }

    /// Presence of each resource of a batch, by its key.
    private var seen: [String: ObservedPresence] = [:]
    /// Resources of a batch without presence in the last resource list that named them, by their keys.
    private var instanceStates: [String: EnhancedDocuments.Rejection] = [:]

    /// Resources without presence in the last resource list.
    package private(set) var rejected: [EnhancedDocuments.Rejection] = []

    /// True for a batch.
    package override var namesSeveral: Bool {
        if case .batch = form { true } else { false }
    }

    /// Returns the presence of a resource of a batch, or of the only presentity; nil when unknown.
    package override func presence(of presentity: String) -> ObservedPresence? {
        namesSeveral ? seen[SIPURI.key(of: presentity)] : presence
    }

    /// Last instance state of a batch resource without presence; nil when it has presence.
    package func instanceState(on presentity: String) -> EnhancedDocuments.Rejection? { instanceStates[SIPURI.key(of: presentity)] }

    override func read(_ body: [UInt8], _ contentType: MediaType?) -> ObservedPresence? {
        guard let contentType, contentType.essence == "multipart/related" else {
            let document = super.read(body, contentType)
            if let document { note(document) }
            return document
        }
        guard let multipart = try? MIMEMultipart(body, contentType: contentType) else {
            fault("unreadable multipart body")
            return nil
        }
        var result: ObservedPresence?
        for (index, part) in multipart.parts.enumerated() {
            switch part.contentType?.essence {
            case "application/rlmi+xml":
                if index != 0 { fault("the resource list is not the first part (MS-PRES 2.2.2.4.2)") }
                rejected = EnhancedDocuments.rejected(part.body)
                for instanceState in rejected { instanceStates[SIPURI.key(of: instanceState.uri)] = instanceState }
            case "application/msrtc-event-categories+xml":
                if let document = super.read(part.body, part.contentType) {
                    note(document)
                    var known = result ?? ObservedPresence()
                    known.merge(document)
                    result = known
                }
            case let other: fault("a part of type \(other ?? "none")")
            }
        }
        return result
    }

    private func note(_ document: ObservedPresence) {
        guard namesSeveral, let entity = document.entity else { return }
        let key = SIPURI.key(of: entity)
        var known = seen[key] ?? ObservedPresence()
        known.merge(document)
        seen[key] = known
        instanceStates[key] = nil
    }
}
