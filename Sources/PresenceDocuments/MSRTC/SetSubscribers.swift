// MS-PRES 2.2.2.6.2 and 6.12: the request that acknowledges a subscriber.

import XMLCore

/// Acknowledgement of exactly one subscriber (MS-PRES 2.2.2.6.2).
public struct SetSubscribersDocument: Hashable, Sendable {
    /// URI of the subscriber, with or without its scheme, as written.
    public var user: String
    /// Attributes and elements without a field here; kept and written again.
    public var foreign: ForeignContent

    public init(user: String, foreign: ForeignContent = ForeignContent()) {
        self.user = user
        self.foreign = foreign
    }
}

// MARK: elements

private enum SetSubscribersNames {
    static let setSubscribers = XMLName("setSubscribers", in: .msSubscribers)
    static let subscriber = XMLName("subscriber", in: .msSubscribers)
}

// MARK: decode

extension SetSubscribersDocument: MSRTCDocument {
    /// Root element `setSubscribers` of ``XMLCore/XMLNamespace/msSubscribers``.
    public static let rootName = SetSubscribersNames.setSubscribers
    /// Media type `application/msrtc-presence-setsubscriber+xml`.
    public static let mediaType = DocumentMediaType("application/msrtc-presence-setsubscriber+xml")
    static let rule: StaticString = "MS-PRES 6.12"

    /// Reads the request; requires exactly one subscriber with `acknowledged` true.
    public init(reading element: XMLElement) throws(DocumentError) {
        try element.expect(Self.rootName, rule: Self.rule)
        let subscribers = element.all(SetSubscribersNames.subscriber)
        guard let subscriber = subscribers.first else { throw element.missing(element: "subscriber", rule: Self.rule) }
        guard subscribers.count == 1 else {
            throw subscribers[1].invalid(
                "subscriber", value: subscribers[1].attribute("user") ?? "", expected: "alone: one request acknowledges one subscriber",
                rule: Self.rule)
        }
        var attributes = AttributeReader(subscriber, rule: Self.rule)
        let user = try attributes.requiredString("user").trimmed
        guard !user.isEmpty else { throw subscriber.invalid("user", value: "", expected: "a URI", rule: Self.rule) }
        guard try attributes.requiredBoolean("acknowledged") else {
            throw subscriber.invalid("acknowledged", value: "false", expected: "true", rule: Self.rule)
        }
        self.init(user: user)
        foreign.attributes = AttributeReader(element, rule: Self.rule).others(besides: [])
        foreign.elements = element.children.filter { !$0.is(SetSubscribersNames.subscriber) }.map { $0.fragment() }
    }
}

// MARK: encode

extension SetSubscribersDocument {
    /// Writes the `setSubscribers` element with its namespace declared.
    public func write(to writer: inout XMLWriter) {
        writer.start("setSubscribers")
        writer.namespace("", .msSubscribers)
        writer.attributes(foreign.attributes)
        writer.start("subscriber")
        writer.attribute("user", user)
        writer.attribute("acknowledged", "true")
        writer.end()
        writer.fragments(foreign.elements)
        writer.end()
    }
}
