import PresenceDocuments
import SIPCore

/// What a single or batch category SUBSCRIBE asks for (MS-PRES 2.2.2.4.1).
struct CategoryRequest: Equatable {
    /// In the order of the request; a resource named twice has its categories joined.
    var subscribed: [Resource] = []
    var unsubscribed: [Resource] = []

    struct Resource: Equatable {
        var uri: SIPURI
        var key: String
        var categories: [CategoryName]
        /// What the watcher says about its reason; nil: nothing (MS-PRES 2.2.2.4.1).
        var context: BatchSubscribeResource.Context?
    }

    /// Whether the request is a batch (MS-PRES 3.4.5.1.1): Require names both tags.
    static func isBatch(_ headers: SIPHeaders) -> Bool {
        headers.hasToken(.require, "adhoclist") && headers.hasToken(.require, "categoryList")
    }

    /// Applies MS-PRES 3.4.5.3 to the decoded body.
    init(_ document: BatchSubscribeDocument, isBatch: Bool, to: SIPURI, limits: GatewayLimits) throws(Refusal) {
        if !isBatch {
            guard document.actions.count == 1, let action = document.actions.first else {
                throw .badRequest("MS-PRES 3.4.5.3: a single category subscription has exactly one action")
            }
            guard action.name == .subscribe else {
                throw .badRequest("MS-PRES 3.4.5.3: a single category subscription cannot unsubscribe")
            }
            guard action.resources.count == 1, let resource = action.resources.first else {
                throw .badRequest("MS-PRES 3.4.5.3: a single category subscription names exactly one resource")
            }
            guard let uri = Self.address(resource.uri), uri.aorKey == to.aorKey else {
                throw .badRequest("MS-PRES 3.4.5.3: the resource differs from To")
            }
        }
        for action in document.actions {
            for resource in action.resources {
                guard let uri = Self.address(resource.uri) else {
                    throw .badRequest("MS-PRES 2.2.2.4.1: a resource's uri cannot be read")
                }
                let entry = Resource(
                    uri: uri.addressOfRecord(), key: uri.aorKey, categories: Self.distinct(action.categories.filter { !$0.isPrivate }),
                    context: resource.context)
                switch action.name {
                case .subscribe: Self.add(entry, to: &subscribed)
                case .unsubscribe: Self.add(entry, to: &unsubscribed)
                default: throw .badRequest("MS-PRES 2.2.2.4.1: an action is subscribe or unsubscribe")
                }
                if subscribed.count + unsubscribed.count > limits.resourcesPerBatch {
                    throw Refusal(.requestEntityTooLarge, "MS-PRES 3.4.5.1.3: too many resources in one request", errorID: 2012)
                }
                if entry.categories.count > limits.categoriesPerSubscription {
                    throw Refusal(.requestEntityTooLarge, "MS-PRES 3.4.5.1.3: too many categories in one request", errorID: 2012)
                }
            }
        }
        if subscribed.isEmpty && unsubscribed.isEmpty {
            throw .badRequest("MS-PRES 2.2.2.4.1: the request names no resource")
        }
    }

    /// Clients write resource URIs with or without the scheme (MS-PRES 3.4.5.1.3.1).
    static func address(_ text: String) -> SIPURI? {
        if let uri = SIPURI(text), uri.scheme.hasHost { return uri }
        return text.contains(":") ? nil : SIPURI("sip:" + text)
    }

    private static func add(_ entry: Resource, to list: inout [Resource]) {
        if let index = list.firstIndex(where: { $0.key == entry.key }) {
            list[index].categories = distinct(list[index].categories + entry.categories)
            if list[index].context == nil { list[index].context = entry.context }
        } else {
            list.append(entry)
        }
    }

    static func distinct(_ names: [CategoryName]) -> [CategoryName] {
        var result: [CategoryName] = []
        for name in names where !result.contains(name) { result.append(name) }
        return result
    }
}
