// MS-PRES 2.2.2.4.1 and 6.8: the body of category SUBSCRIBE requests, batch and single.

import XMLCore

/// What an action of a category SUBSCRIBE does (MS-PRES 2.2.2.4.1).
public struct BatchSubscribeActionName: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: StaticString) { rawValue = value.description }

    public static let subscribe: BatchSubscribeActionName = "subscribe"
    public static let unsubscribe: BatchSubscribeActionName = "unsubscribe"

    public var description: String { rawValue }
}

/// A presentity to watch (MS-PRES 2.2.2.4.1).
public struct BatchSubscribeResource: Hashable, Sendable {
    /// What the watcher says about its reason; present but empty is not the same as absent (MS-PRES 3.4.5.1.3).
    public enum Context: Hashable, Sendable {
        case empty
        case content(XMLFragment)
    }

    public var uri: String
    public var context: Context?
    public var foreign: ForeignContent

    public init(uri: String, context: Context? = nil, foreign: ForeignContent = ForeignContent()) {
        self.uri = uri
        self.context = context
        self.foreign = foreign
    }
}

/// One `action`: resources and the categories to watch or to leave (MS-PRES 2.2.2.4.1).
public struct BatchSubscribeAction: Hashable, Sendable {
    public var name: BatchSubscribeActionName
    /// Ignored by servers.
    public var id: String?
    public var resources: [BatchSubscribeResource]
    public var categories: [CategoryName]
    public var foreign: ForeignContent

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

/// A category SUBSCRIBE request (MS-PRES 2.2.2.4.1); the actions are processed in order (MS-PRES 3.4.5.1.3).
public struct BatchSubscribeDocument: Hashable, Sendable {
    /// Ignored by servers; clients write the watcher.
    public var uri: String?
    /// Ignored by servers.
    public var name: String?
    public var actions: [BatchSubscribeAction]
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

/// How much a category SUBSCRIBE may ask for (MS-PRES 3.4.5.1.3 names the limits without numbers).
public struct BatchSubscribeLimits: Hashable, Sendable {
    /// Most actions of a request.
    public var actions: Int
    /// Most resources over all actions.
    public var resources: Int
    /// Most categories of one action.
    public var categories: Int

    public init(actions: Int = 16, resources: Int = 500, categories: Int = 64) {
        self.actions = actions
        self.resources = resources
        self.categories = categories
    }

    public static let standard = BatchSubscribeLimits()
}

// MARK: decode

extension BatchSubscribeDocument: MSRTCDocument {
    public static let rootName = BatchNames.batchSub
    public static let mediaType = DocumentMediaType("application/msrtc-adrl-categorylist+xml")
    static let rule: StaticString = "MS-PRES 6.8"

    public init(reading element: XMLElement) throws(DocumentError) {
        try self.init(reading: element, limits: .standard)
    }

    /// Reads the document from its root element.
    /// - Throws: ``DocumentError``; with the code `limit` when the request asks for too much, which is answered with 413.
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
