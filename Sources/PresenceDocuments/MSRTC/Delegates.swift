// MS-PRES 2.2.2.10 and 6.5: the delegates of a user.

import XMLCore

/// Delegate, a user that may act for another (MS-PRES 6.5).
public struct DelegateElement: Hashable, Sendable {
    /// URI without its scheme.
    public var uri: String
    /// Whether the delegate may publish for the user.
    public var publish: Bool
    /// Whether the delegate may name delegates of the user.
    public var redelegate: Bool
    /// Attributes and elements without a field here; kept and written again.
    public var foreign: ForeignContent

    public init(uri: String, publish: Bool, redelegate: Bool, foreign: ForeignContent = ForeignContent()) {
        self.uri = uri
        self.publish = publish
        self.redelegate = redelegate
        self.foreign = foreign
    }
}

/// Complete list of a user's delegates (MS-PRES 6.5).
public struct DelegatesDocument: Hashable, Sendable {
    /// Version of the list.
    public var version: UInt32
    /// Delegates in document order.
    public var delegates: [DelegateElement]

    public init(version: UInt32, delegates: [DelegateElement] = []) {
        self.version = version
        self.delegates = delegates
    }
}

// MARK: elements

private enum DelegateNames {
    static let delegates = XMLName("delegates", in: .msDelegates)
    static let delegate = XMLName("delegate", in: .msDelegates)
}

// MARK: decode

extension DelegatesDocument: MSRTCDocument {
    /// Root element `delegates` of ``XMLCore/XMLNamespace/msDelegates``.
    public static let rootName = DelegateNames.delegates
    static let rule: StaticString = "MS-PRES 6.5"

    /// Reads the `delegates` element; requires `version`, and `uri`, `publish` and `redelegate` of each delegate.
    public init(reading element: XMLElement) throws(DocumentError) {
        try element.expect(Self.rootName, rule: Self.rule)
        var attributes = AttributeReader(element, rule: Self.rule)
        self.init(version: try attributes.requiredUnsigned("version"))
        for child in element.children where child.is(DelegateNames.delegate) {
            var attributes = AttributeReader(child, rule: Self.rule)
            var delegate = DelegateElement(
                uri: try attributes.requiredString("uri"), publish: try attributes.requiredBoolean("publish"),
                redelegate: try attributes.requiredBoolean("redelegate"))
            delegate.foreign.attributes = attributes.others(besides: ["uri", "publish", "redelegate"])
            delegate.foreign.elements = child.children.map { $0.fragment() }
            delegates.append(delegate)
        }
    }
}

// MARK: encode

extension DelegatesDocument {
    /// Writes the `delegates` element with its namespace declared.
    public func write(to writer: inout XMLWriter) {
        writer.start("delegates")
        writer.namespace("", .msDelegates)
        writer.attribute("version", String(version))
        for delegate in delegates {
            writer.start("delegate")
            writer.attribute("uri", delegate.uri)
            writer.attribute("publish", delegate.publish ? "true" : "false")
            writer.attribute("redelegate", delegate.redelegate ? "true" : "false")
            writer.attributes(delegate.foreign.attributes)
            writer.fragments(delegate.foreign.elements)
            writer.end()
        }
        writer.end()
    }
}
