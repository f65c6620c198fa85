// MS-PRES 2.2.2.6.1 and 6.4: the list of a user's subscribers, and its acknowledgement.

import XMLCore

/// Origin of a subscriber (MS-PRES 2.2.2.6.1).
public struct SubscriberType: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Token as written in documents, case included.
    public let rawValue: String

    /// Wraps a token; tokens that are not listed here are kept.
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: StaticString) { rawValue = value.description }

    /// The presentity's enterprise.
    public static let sameEnterprise: SubscriberType = "sameEnterprise"
    /// A federated domain.
    public static let federated: SubscriberType = "federated"
    /// A public cloud.
    public static let publicCloud: SubscriberType = "publicCloud"
    /// An origin that the server cannot tell.
    public static let unknown: SubscriberType = "unknown"

    public var description: String { rawValue }
}

/// Subscriber to a user's presence (MS-PRES 2.2.2.6.1).
public struct SubscriberElement: Hashable, Sendable {
    /// URI without its scheme.
    public var user: String
    /// Display name of the subscriber.
    public var displayName: String
    /// Whether the presentity has answered the question about this subscriber.
    public var acknowledged: Bool
    /// Origin of the subscriber; nil when absent.
    public var type: SubscriberType?
    /// Content of the subscription's context; nil when absent.
    public var context: XMLFragment?
    /// Attributes without a field here; absent in messages, but a store may add notes to an entry.
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

/// Complete list of subscribers (MS-PRES 6.4).
public struct SubscribersDocument: Hashable, Sendable {
    /// Subscribers in document order.
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
    /// Root element `subscribers` of ``XMLCore/XMLNamespace/msSubscribers``.
    public static let rootName = SubscriberNames.subscribers
    static let rule: StaticString = "MS-PRES 6.4"

    /// Reads the `subscribers` element; requires `user`, `displayName` and `acknowledged` of each subscriber.
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
    /// Writes the `subscribers` element with its namespace declared.
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
