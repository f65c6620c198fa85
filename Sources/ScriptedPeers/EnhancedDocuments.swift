import XMLCore

/// Presence of an enterprise presentity, as far as scripts need it.
package struct EnhancedState: Hashable, Sendable {
    /// Availability number (MS-PRES 2.2.2.7.1).
    package var availability: Int
    /// Activity token; nil for none.
    package var token: String?
    /// Personal note; nil for none.
    package var note: String?
    /// Display name in the contact card; nil for none.
    package var displayName: String?

    /// Creates a state; only the availability is required.
    package init(_ availability: Int, token: String? = nil, note: String? = nil, displayName: String? = nil) {
        self.availability = availability
        self.token = token
        self.note = note
        self.displayName = displayName
    }
}

/// Microsoft presence documents as hand-written text, so that the peers do not use the codecs under test.
package enum EnhancedDocuments {
    static func escape(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
        return result
    }

    /// Returns the body of a category SUBSCRIBE (MS-PRES 2.2.2.4.1).
    /// - Parameter context: Content of each resource's context element; nil omits the element.
    package static func batchSubscribe(
        watcher: String, resources: [String], categories: [String], context: String? = nil, action: String = "subscribe"
    ) -> String {
        let names = categories.map { "<category name=\"\(escape($0))\"/>" }.joined()
        let inner = context.map { "<context>\($0)</context>" } ?? ""
        let list = resources.map { "<resource uri=\"\(escape($0))\">\(inner)</resource>" }.joined()
        return """
            <batchSub xmlns="http://schemas.microsoft.com/2006/01/sip/batch-subscribe" uri="\(escape(watcher))" name="">\
            <action name="\(action)" id="1"><adhocList>\(list)</adhocList>\
            <categoryList xmlns="http://schemas.microsoft.com/2006/09/sip/categorylist">\(names)</categoryList></action></batchSub>
            """
    }

    /// First resource in a batchSub document; nil when there is none.
    static func resource(_ body: [UInt8]) -> String? {
        guard !body.isEmpty, let root = try? XMLTree.parse(body).root else { return nil }
        for action in root.children {
            for list in action.children where list.localName == "adhocList" {
                for resource in list.children { return resource.attribute("uri") }
            }
        }
        return nil
    }

    /// Actions of a batchSub document, in order.
    static func actions(_ body: [UInt8]) -> [(isSubscribe: Bool, resources: [String], categories: [String])] {
        guard !body.isEmpty, let root = try? XMLTree.parse(body).root else { return [] }
        return root.children.filter { $0.localName == "action" }.map { action in
            let children = action.children.map { ($0.localName, $0.children) }
            let resources = children.filter { $0.0 == "adhocList" }.flatMap { $0.1.compactMap { $0.attribute("uri") } }
            let categories = children.filter { $0.0 == "categoryList" }.flatMap { $0.1.compactMap { $0.attribute("name") } }
            return (action.attribute("name") == "subscribe", resources, categories)
        }
    }

    /// Returns a categories document for a watcher (MS-PRES 2.2.2.5) with the named categories.
    package static func categories(_ state: EnhancedState?, of uri: String, names: [String], published: String) -> String {
        var text = "<categories xmlns=\"http://schemas.microsoft.com/2006/09/sip/categories\" uri=\"\(escape(uri))\">"
        for name in names {
            guard let state, let body = body(name, state) else {
                text += "<category name=\"\(escape(name))\"/>"
                continue
            }
            let instance = name == "state" ? 1 : 0
            text += "<category name=\"\(name)\" instance=\"\(instance)\" publishTime=\"\(published)\">\(body)</category>"
        }
        return text + "</categories>"
    }

    /// Body of an aggregate state (MS-PRES 2.2.2.7.1).
    package static func aggregateState(_ availability: Int, token: String? = nil) -> String {
        let activity = token.map { "<activity token=\"\(escape($0))\"/>" } ?? ""
        return """
            <state xmlns="http://schemas.microsoft.com/2006/09/sip/state" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
            xsi:type="aggregateState"><availability>\(availability)</availability>\(activity)</state>
            """
    }

    private static func body(_ name: String, _ state: EnhancedState) -> String? {
        switch name {
        case "state": return aggregateState(state.availability, token: state.token)
        case "note":
            return state.note.map {
                "<note xmlns=\"http://schemas.microsoft.com/2006/09/sip/note\"><body type=\"personal\" uri=\"\">\(escape($0))</body></note>"
            }
        case "contactCard":
            return state.displayName.map {
                "<contactCard xmlns=\"http://schemas.microsoft.com/2006/09/sip/contactcard\"><identity><name>"
                    + "<displayName>\(escape($0))</displayName></name></identity></contactCard>"
            }
        default: return nil
        }
    }

    /// Instance state that a server sends instead of presence (MS-PRES 3.4.5.1.3.1).
    package enum InstanceState: Hashable, Sendable {
        /// `resubscribe`, with the pool's GRUU where it is known.
        case elsewhere(pool: String?)
        case terminated(reason: String, status: Int? = nil)
        case pending

        fileprivate var attributes: String {
            switch self {
            case .elsewhere(let pool): "state=\"resubscribe\"" + (pool.map { " poolFqdn=\"\(escape($0))\"" } ?? "")
            case .terminated(let reason, let status):
                "state=\"terminated\" reason=\"\(escape(reason))\"" + (status.map { " statusCode=\"\($0)\"" } ?? "")
            case .pending: "state=\"pending\""
            }
        }
    }

    /// Resource list of a response (MS-PRES 2.2.2.4.2).
    static func resourceList(watcher: String, _ instanceStates: [(uri: String, instanceState: InstanceState)]) -> String {
        let opening = "<list xmlns=\"urn:ietf:params:xml:ns:rlmi\" uri=\"\(escape(watcher))\" version=\"0\" fullState=\"false\""
        if instanceStates.isEmpty { return opening + "/>" }
        let resources = instanceStates.map { uri, instanceState in
            let plain = uri.hasPrefix("sip:") ? String(uri.dropFirst(4)) : uri
            return "<resource uri=\"\(escape(uri))\"><instance id=\"0\" cid=\"\(escape(plain))\" \(instanceState.attributes)/></resource>"
        }
        return opening + ">" + resources.joined() + "</list>"
    }

    /// Resource of a resource list without presence (MS-PRES 2.2.2.4.2).
    package struct Rejection: Hashable, Sendable {
        /// URI of the resource, as written in the list.
        package var uri: String
        /// State of the instance: `terminated`, `pending` or `resubscribe`.
        package var state: String
        /// Reason attribute; nil when absent.
        package var reason: String?
        /// Pool in `poolFqdn`; nil when absent.
        package var pool: String?
    }

    /// Resources of a resource list without presence.
    static func rejected(_ list: [UInt8]) -> [Rejection] {
        guard let root = try? XMLTree.parse(list).root else { return [] }
        return root.children.filter { $0.localName == "resource" }.flatMap { resource in
            resource.children.filter { $0.localName == "instance" }.map {
                Rejection(
                    uri: resource.attribute("uri") ?? "", state: $0.attribute("state") ?? "", reason: $0.attribute("reason"),
                    pool: $0.attribute("poolFqdn"))
            }
        }
    }

    /// A msrtc.pidf (MS-PRES 2.2.2.9).
    static func msrtc(_ state: EnhancedState?, of uri: String) -> String {
        let plain = uri.hasPrefix("sip:") ? String(uri.dropFirst(4)) : uri
        let number = state?.availability ?? 18_500
        let isOnline = (3000..<18_000).contains(number)
        let activity = number < 4500 ? 400 : number < 9000 ? 600 : 100
        return """
            <presentity xmlns="http://schemas.microsoft.com/2002/09/sip/presence" uri="\(escape(plain))">\
            <availability aggregate="\(isOnline ? 300 : 0)" description="" epid=""/>\
            <activity aggregate="\(isOnline ? activity : 100)" description="" note="\(escape(state?.note ?? ""))"/>\
            <displayName displayName="\(escape(state?.displayName ?? ""))"/><email email=""/><phoneNumber label="" number=""/>\
            <aggregate><states><state avail="\(number)" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
            xsi:type="userState">\(escape(state?.token ?? ""))</state></states></aggregate></presentity>
            """
    }

    /// The PIDF of an enterprise server (MS-PRES 2.2.2.8).
    static func pidf(_ state: EnhancedState?, of uri: String) -> String {
        let number = state?.availability ?? 18_500
        let activity =
            switch number {
            case 4500..<6000, 7500..<9000, 12_000..<18_000: "away"
            case 6000..<7500: state?.token == "on-the-phone" ? "on-the-phone" : "busy"
            case 9000..<12_000: "busy"
            default: ""
            }
        let activities = activity.isEmpty ? "" : "<ep:activities><ep:activity>\(activity)</ep:activity></ep:activities>"
        return """
            <presence xmlns="urn:ietf:params:xml:ns:pidf" xmlns:ep="urn:ietf:params:xml:ns:pidf:status:rpid-status" \
            entity="\(escape(uri))"><tuple id="0"><status><basic>\((3000..<18_000).contains(number) ? "open" : "closed")</basic>\
            \(activities)</status></tuple></presence>
            """
    }
}
