// MS-PRES 2.2.2.4.1 and 6.8: the body of category SUBSCRIBE requests, batch and single.

import XMLCore

/// Action of a category SUBSCRIBE (MS-PRES 2.2.2.4.1).
public struct BatchSubscribeActionName: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Token as written in documents, case included.
    public let rawValue: String

    /// Wraps a token; tokens that are not listed here are kept.
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: StaticString) { rawValue = value.description }

    /// Watch the categories of the resources.
    public static let subscribe: BatchSubscribeActionName = "subscribe"
    /// Stop watching the categories of the resources.
    public static let unsubscribe: BatchSubscribeActionName = "unsubscribe"

    public var description: String { rawValue }
}

/// Presentity to watch (MS-PRES 2.2.2.4.1).
public struct BatchSubscribeResource: Hashable, Sendable {
    /// Content of `context`, the watcher's reason; an empty element differs from an absent one (MS-PRES 3.4.5.1.3).
    public enum Context: Hashable, Sendable {
        case empty
        case content(XMLFragment)
    }

    /// Presentity URI as written.
    public var uri: String
    /// Reason for the subscription; nil without the element.
    public var context: Context?
    /// Attributes and elements without a field here; kept and written again.
    public var foreign: ForeignContent

    /// Creates a resource; by default without context.
    public init(uri: String, context: Context? = nil, foreign: ForeignContent = ForeignContent()) {
        self.uri = uri
        self.context = context
        self.foreign = foreign
    }
}

/// Action on resources and categories (MS-PRES 2.2.2.4.1).
public struct BatchSubscribeAction: Hashable, Sendable {
    /// Whether to watch or to stop watching.
    public var name: BatchSubscribeActionName
    /// Identifier of the client; ignored by servers.
    public var id: String?
    /// Presentities in document order; at least one when parsed.
    public var resources: [BatchSubscribeResource]
    /// Categories in document order; at least one when parsed.
    public var categories: [CategoryName]
    /// Attributes and elements without a field here; kept and written again.
    public var foreign: ForeignContent

    /// Creates an action; by default `subscribe`.
    public init(
        name: BatchSubscribeActionName = .subscribe, id: String? = nil, resources: [BatchSubscribeResource],
        categories: [CategoryName], foreign: ForeignContent = ForeignContent()
    ) {
        self.name = name
        self.id = id
        self.resources = resources
        self.categories = categories
        self.foreign = foreign
    }
}

/// Category SUBSCRIBE request (MS-PRES 2.2.2.4.1); the actions are processed in order (MS-PRES 3.4.5.1.3).
public struct BatchSubscribeDocument: Hashable, Sendable {
    /// Watcher, as clients write it; ignored by servers.
    public var uri: String?
    /// Name of the request; ignored by servers.
    public var name: String?
    /// Actions in order; at least one when parsed.
    public var actions: [BatchSubscribeAction]
    /// Attributes and elements without a field here; kept and written again.
    public var foreign: ForeignContent

    public init(
        uri: String? = nil, name: String? = nil, actions: [BatchSubscribeAction], foreign: ForeignContent = ForeignContent()
    ) {
        self.uri = uri
        self.name = name
        self.actions = actions
        self.foreign = foreign
    }
}

// MARK: elements

private enum BatchNames {
    static let batchSub = XMLName("batchSub", in: .msBatchSubscribe)
    static let action = XMLName("action", in: .msBatchSubscribe)
    static let adhocList = XMLName("adhocList", in: .msBatchSubscribe)
    static let resource = XMLName("resource", in: .msBatchSubscribe)
    static let context = XMLName("context", in: .msBatchSubscribe)
    static let categoryList = XMLName("categoryList", in: .msCategoryList)
    static let category = XMLName("category", in: .msCategoryList)
}

/// Limits of a category SUBSCRIBE; MS-PRES 3.4.5.1.3 requires limits without giving numbers.
public struct BatchSubscribeLimits: Hashable, Sendable {
    /// Actions of a request.
    public var actions: Int
    /// Resources of all actions together.
    public var resources: Int
    /// Categories of one action.
    public var categories: Int

    /// Creates limits; by default 16 actions, 500 resources and 64 categories.
    public init(actions: Int = 16, resources: Int = 500, categories: Int = 64) {
        self.actions = actions
        self.resources = resources
        self.categories = categories
    }

    /// Default limits: 16 actions, 500 resources, 64 categories.
    public static let standard = BatchSubscribeLimits()
}

// MARK: decode

extension BatchSubscribeDocument: MSRTCDocument {
    /// Root element `batchSub` of ``XMLCore/XMLNamespace/msBatchSubscribe``.
    public static let rootName = BatchNames.batchSub
    /// Media type `application/msrtc-adrl-categorylist+xml`.
    public static let mediaType = DocumentMediaType("application/msrtc-adrl-categorylist+xml")
    static let rule: StaticString = "MS-PRES 6.8"

    /// Reads the request with the standard limits.
    public init(reading element: XMLElement) throws(DocumentError) {
        try self.init(reading: element, limits: .standard)
    }

    /// Reads the request.
    /// - Throws: ``DocumentError``; with the code `limit` for a request beyond the limits, which is answered with 413.
    public init(reading element: XMLElement, limits: BatchSubscribeLimits) throws(DocumentError) {
        try element.expect(Self.rootName, rule: Self.rule)
        var attributes = AttributeReader(element, rule: Self.rule)
        self.init(uri: attributes.string("uri"), name: attributes.string("name"), actions: [])
        foreign.attributes = attributes.others(besides: ["uri", "name"])
        var resourceCount = 0
        for child in element.children {
            guard child.is(BatchNames.action) else {
                foreign.elements.append(child.fragment())
                continue
            }
            let action = try BatchSubscribeAction(reading: child)
            resourceCount += action.resources.count
            guard actions.count < limits.actions, resourceCount <= limits.resources, action.categories.count <= limits.categories else {
                throw DocumentError(
                    code: .limit, message: "batchSub asks for more actions, resources or categories than are allowed (MS-PRES 3.4.5.1.3)",
                    position: child.position)
            }
            actions.append(action)
        }
        guard !actions.isEmpty else { throw element.missing(element: "action", rule: Self.rule) }
    }
}

extension BatchSubscribeAction {
    fileprivate init(reading element: XMLElement) throws(DocumentError) {
        let rule = BatchSubscribeDocument.rule
        var attributes = AttributeReader(element, rule: rule)
        let name: BatchSubscribeActionName = try attributes.requiredToken("name")
        guard name == .subscribe || name == .unsubscribe else {
            throw element.invalid("name", value: name.rawValue, expected: "subscribe or unsubscribe", rule: rule)
        }
        guard let list = element.first(BatchNames.adhocList) else { throw element.missing(element: "adhocList", rule: rule) }
        guard let names = element.first(BatchNames.categoryList) else {
            throw element.missing(element: "categoryList", rule: rule)
        }
        self.init(name: name, id: attributes.string("id"), resources: [], categories: [])
        foreign.attributes = attributes.others(besides: ["name", "id"])
        for child in element.children where !child.is(BatchNames.adhocList) && !child.is(BatchNames.categoryList) {
            foreign.elements.append(child.fragment())
        }
        for child in list.children where child.is(BatchNames.resource) {
            resources.append(try BatchSubscribeResource(reading: child))
        }
        guard !resources.isEmpty else { throw list.missing(element: "resource", rule: rule) }
        for child in names.children where child.is(BatchNames.category) {
            var attributes = AttributeReader(child, rule: rule)
            categories.append(try attributes.requiredToken("name"))
        }
        guard !categories.isEmpty else { throw names.missing(element: "category", rule: rule) }
    }
}

extension BatchSubscribeResource {
    fileprivate init(reading element: XMLElement) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: BatchSubscribeDocument.rule)
        self.init(uri: try attributes.requiredString("uri"))
        foreign.attributes = attributes.others(besides: ["uri"])
        for child in element.children {
            if child.is(BatchNames.context), context == nil {
                var children = child.children.makeIterator()
                context = children.next().map { .content($0.fragment()) } ?? .empty
            } else {
                foreign.elements.append(child.fragment())
            }
        }
    }
}

// MARK: encode

extension BatchSubscribeDocument {
    /// Writes the `batchSub` element with its namespace declared.
    public func write(to writer: inout XMLWriter) {
        writer.start("batchSub")
        writer.namespace("", .msBatchSubscribe)
        writer.attribute("uri", ifPresent: uri)
        writer.attribute("name", ifPresent: name)
        writer.attributes(foreign.attributes)
        for action in actions { action.write(to: &writer) }
        writer.fragments(foreign.elements)
        writer.end()
    }
}

extension BatchSubscribeAction {
    fileprivate func write(to writer: inout XMLWriter) {
        writer.start("action")
        writer.attribute("name", name.rawValue)
        writer.attribute("id", ifPresent: id)
        writer.attributes(foreign.attributes)
        writer.start("adhocList")
        for resource in resources {
            writer.start("resource")
            writer.attribute("uri", resource.uri)
            writer.attributes(resource.foreign.attributes)
            switch resource.context {
            case .empty: writer.element("context")
            case .content(let fragment):
                writer.start("context")
                writer.fragment(fragment)
                writer.end()
            case nil: break
            }
            writer.fragments(resource.foreign.elements)
            writer.end()
        }
        writer.end()
        writer.start("categoryList")
        writer.namespace("", .msCategoryList)
        for category in categories {
            writer.start("category")
            writer.attribute("name", category.rawValue)
            writer.end()
        }
        writer.end()
        writer.fragments(foreign.elements)
        writer.end()
    }
}
