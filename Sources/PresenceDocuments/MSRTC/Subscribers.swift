// MS-PRES 2.2.2.6.1 and 6.4: the list of those who subscribed to a user, and its acknowledgement.

import XMLCore

/// Where a subscriber comes from (MS-PRES 2.2.2.6.1).
public struct SubscriberType: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: StaticString) { rawValue = value.description }

    public static let sameEnterprise: SubscriberType = "sameEnterprise"
    public static let federated: SubscriberType = "federated"
    public static let publicCloud: SubscriberType = "publicCloud"
    public static let unknown: SubscriberType = "unknown"

    public var description: String { rawValue }
}

/// One who subscribed (MS-PRES 2.2.2.6.1).
public struct SubscriberElement: Hashable, Sendable {
    /// URI without its scheme.
    public var user: String
    public var displayName: String
    /// Whether the presentity was asked and has answered.
    public var acknowledged: Bool
    public var type: SubscriberType?
    /// Content of the context of the subscription.
    public var context: XMLFragment?
    /// Attributes of other namespaces; none on the wire, but a store may note something beside the entry.
    public var attributes: [XMLAttribute]

    public init(
        user: String, displayName: String, acknowledged: Bool, type: SubscriberType? = nil, context: XMLFragment? = nil,
        attributes: [XMLAttribute] = []
    ) {
        self.user = user
        self.displayName = displayName
        self.acknowledged = acknowledged
        self.type = type
        self.context = context
        self.attributes = attributes
    }
}

/// Everybody who subscribed, always complete (MS-PRES 6.4).
public struct SubscribersDocument: Hashable, Sendable {
    public var subscribers: [SubscriberElement]

    public init(subscribers: [SubscriberElement] = []) {
        self.subscribers = subscribers
    }
}

// MARK: elements

private enum SubscriberNames {
    static let subscribers = XMLName("subscribers", in: .msSubscribers)
    static let subscriber = XMLName("subscriber", in: .msSubscribers)
    static let context = XMLName("context", in: .msSubscribers)
}

// MARK: decode

extension SubscribersDocument: MSRTCDocument {
    public static let rootName = SubscriberNames.subscribers
    static let rule: StaticString = "MS-PRES 6.4"

    public init(reading element: XMLElement) throws(DocumentError) {
        try element.expect(Self.rootName, rule: Self.rule)
        self.init()
        for child in element.children where child.is(SubscriberNames.subscriber) {
            var attributes = AttributeReader(child, rule: Self.rule)
            let context = child.first(SubscriberNames.context).flatMap { $0.children.first { _ in true } }
            var subscriber = SubscriberElement(
                user: try attributes.requiredString("user"), displayName: try attributes.requiredString("displayName"),
                acknowledged: try attributes.requiredBoolean("acknowledged"), type: attributes.token("type"),
                context: context?.fragment())
            subscriber.attributes = attributes.others(besides: ["user", "displayName", "acknowledged", "type"])
            subscribers.append(subscriber)
        }
    }
}

// MARK: encode

extension SubscribersDocument {
    public func write(to writer: inout XMLWriter) {
        writer.start("subscribers")
        writer.namespace("", .msSubscribers)
        for subscriber in subscribers {
            writer.start("subscriber")
            writer.attribute("user", subscriber.user)
            writer.attribute("displayName", subscriber.displayName)
            writer.attribute("acknowledged", subscriber.acknowledged ? "true" : "false")
            writer.attribute("type", ifPresent: subscriber.type)
            writer.attributes(subscriber.attributes)
            if let context = subscriber.context {
                writer.start("context")
                writer.fragment(context)
                writer.end()
            }
            writer.end()
        }
        writer.end()
    }
}
