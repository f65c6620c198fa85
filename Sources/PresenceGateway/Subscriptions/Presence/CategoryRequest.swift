import FederationRouting
import PresenceDocuments
import SIPCore

/// The content of a single or batch category SUBSCRIBE (MS-PRES 2.2.2.4.1).
struct CategoryRequest: Equatable {
    /// Operations in the order of the request (MS-PRES 3.4.5.1.3).
    var operations: [Operation] = []

    struct Operation: Equatable {
        /// false: unsubscribe.
        var isSubscribe: Bool
        var resource: Resource
    }

    struct Resource: Equatable {
        var uri: SIPURI
        var key: String
        var categories: [CategoryName]
        /// The reason that the watcher gives for its request; nil: none (MS-PRES 2.2.2.4.1).
        var context: BatchSubscribeResource.Context?
        /// The URI as the watcher wrote it; nil: `uri`.
        var entity: SIPURI?
    }

    /// Whether the request is a batch (MS-PRES 3.4.5.1.1): Require has both tags.
    static func isBatch(_ headers: SIPHeaders) -> Bool {
        headers.hasToken(.require, "adhoclist") && headers.hasToken(.require, "categoryList")
    }

    /// Converts the decoded body by the rules of MS-PRES 3.4.5.3.
    init(
        _ document: BatchSubscribeDocument, isBatch: Bool, to: SIPURI, identities: IdentityTable = IdentityTable()
    ) throws(Refusal) {
        if !isBatch { try Self.checkSingle(document, to: identities.identity(of: to).key, identities) }
        for action in document.actions {
            guard action.name == .subscribe || action.name == .unsubscribe else {
                throw .badRequest("MS-PRES 2.2.2.4.1: an action is subscribe or unsubscribe")
            }
            let categories = Self.distinct(action.categories.filter { !$0.isPrivate })
            for resource in action.resources {
                guard let uri = Self.address(resource.uri) else {
                    throw .badRequest("MS-PRES 2.2.2.4.1: a resource's uri cannot be read")
                }
                let identity = identities.identity(of: uri)
                operations.append(
                    Operation(
                        isSubscribe: action.name == .subscribe,
                        resource: Resource(
                            uri: identity.uri.addressOfRecord(), key: identity.key, categories: categories, context: resource.context,
                            entity: uri.entityForm)))
            }
        }
        if operations.isEmpty { throw .badRequest("MS-PRES 2.2.2.4.1: the request names no resource") }
    }

    private static func checkSingle(_ document: BatchSubscribeDocument, to: String, _ identities: IdentityTable) throws(Refusal) {
        guard document.actions.count == 1, let action = document.actions.first else {
            throw .badRequest("MS-PRES 3.4.5.3: a single category subscription has exactly one action")
        }
        guard action.name == .subscribe else {
            throw .badRequest("MS-PRES 3.4.5.3: a single category subscription cannot unsubscribe")
        }
        guard action.resources.count == 1, let resource = action.resources.first else {
            throw .badRequest("MS-PRES 3.4.5.3: a single category subscription names exactly one resource")
        }
        guard let uri = Self.address(resource.uri), identities.identity(of: uri).key == to else {
            throw .badRequest("MS-PRES 3.4.5.3: the resource differs from To")
        }
    }

    /// Returns the watched resources with all their categories after these operations, applied in order.
    ///
    /// A resource that loses its last category is removed; one subscribed without categories stays and shows nothing.
    /// - Throws: 413 for more resources, or more categories of a resource, than the limits allow (MS-PRES 3.4.5.1.3).
    func applied(to watched: [Resource], limits: GatewayLimits) throws(Refusal) -> [Resource] {
        var result = watched
        var places = Dictionary(watched.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
        var isGone: Set<Int> = []
        for operation in operations {
            let resource = operation.resource
            switch (operation.isSubscribe, places[resource.key]) {
            case (true, let place?):
                result[place].categories = Self.distinct(result[place].categories + resource.categories)
                result[place].context = result[place].context ?? resource.context
            case (true, nil):
                places[resource.key] = result.count
                result.append(resource)
            case (false, let place?):
                result[place].categories.removeAll { resource.categories.contains($0) }
                if result[place].categories.isEmpty {
                    isGone.insert(place)
                    places[resource.key] = nil
                }
            case (false, nil):
                break
            }
        }
        let left = result.indices.filter { !isGone.contains($0) }.map { result[$0] }
        if left.count > max(limits.resourcesPerBatch, watched.count) {
            throw Refusal(.requestEntityTooLarge, "MS-PRES 3.4.5.1.3: too many resources in one subscription", errorID: 2012)
        }
        if left.contains(where: { $0.categories.count > limits.categoriesPerSubscription }) {
            throw Refusal(.requestEntityTooLarge, "MS-PRES 3.4.5.1.3: too many categories of one resource", errorID: 2012)
        }
        return left
    }

    /// The subscribed resources in the order of the request, each once: the subject of its response (MS-PRES 4.5).
    var named: [Resource] {
        var resources: [Resource] = []
        var places: [String: Int] = [:]
        for operation in operations where operation.isSubscribe {
            if let place = places[operation.resource.key] {
                resources[place].context = resources[place].context ?? operation.resource.context
            } else {
                places[operation.resource.key] = resources.count
                resources.append(operation.resource)
            }
        }
        return resources
    }

    /// Parses a resource URI, which clients write with or without the scheme (MS-PRES 3.4.5.1.3.1).
    static func address(_ text: String) -> SIPURI? {
        if let uri = SIPURI(text), uri.scheme.hasHost || uri.scheme == .tel { return uri }
        return text.contains(":") ? nil : SIPURI("sip:" + text)
    }

    static func distinct(_ names: [CategoryName]) -> [CategoryName] {
        var result: [CategoryName] = []
        for name in names where !result.contains(name) { result.append(name) }
        return result
    }
}
