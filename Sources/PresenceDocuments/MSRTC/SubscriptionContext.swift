// MS-PRES 2.2.2.4.1 and 6.13: the reason for a subscription.

import XMLCore

/// Reason that a watcher gives for its subscription (MS-PRES 6.13).
public struct SubscriptionContextDocument: Hashable, Sendable {
    /// Major schema version; required when parsed.
    public var majorVersion: UInt32
    /// Minor schema version; required when parsed.
    public var minorVersion: UInt32
    /// Whether the presentity is on the watcher's contact list.
    public var isContact: Bool
    /// Whether a `delegation` element is present: the presentity is a delegate of the watcher.
    public var isDelegate: Bool
    /// Delegators; the text of the standard allows none.
    public var delegators: [String]
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]
    /// Elements without a field here, by schema generation (MS-PRES 7.1); kept and written again.
    public var extensions: ExtensionBlock

    /// Creates a context; by default version 1.0, with the presentity on the watcher's contact list.
    public init(
        majorVersion: UInt32 = 1, minorVersion: UInt32 = 0, isContact: Bool = true, isDelegate: Bool = false,
        delegators: [String] = [], attributes: [XMLAttribute] = [], extensions: ExtensionBlock = ExtensionBlock()
    ) {
        self.majorVersion = majorVersion
        self.minorVersion = minorVersion
        self.isContact = isContact
        self.isDelegate = isDelegate
        self.delegators = delegators
        self.attributes = attributes
        self.extensions = extensions
    }
}

// MARK: elements

private enum ContextNames {
    static let subscriptionContext = XMLName("subscriptionContext", in: .msSubscriptionContext)
    static let watcher = XMLName("watcher", in: .msSubscriptionContext)
    static let contactList = XMLName("contactList", in: .msSubscriptionContext)
    static let delegation = XMLName("delegation", in: .msSubscriptionContext)
    static let delegator = XMLName("delegator", in: .msSubscriptionContext)
}

// MARK: decode

extension SubscriptionContextDocument: MSRTCDocument {
    /// Root element `subscriptionContext` of ``XMLCore/XMLNamespace/msSubscriptionContext``.
    public static let rootName = ContextNames.subscriptionContext
    static let rule: StaticString = "MS-PRES 6.13"

    /// Reads the `subscriptionContext` element; requires both versions.
    public init(reading element: XMLElement) throws(DocumentError) {
        try element.expect(Self.rootName, rule: Self.rule)
        var attributes = AttributeReader(element, rule: Self.rule)
        self.init(
            majorVersion: try attributes.requiredUnsigned("majorVersion"),
            minorVersion: try attributes.requiredUnsigned("minorVersion"), isContact: false)
        self.attributes = attributes.others(besides: ["majorVersion", "minorVersion"])
        var extensions = ExtensionReader()
        for child in element.children {
            switch child {
            case ContextNames.watcher: isContact = child.first(ContextNames.contactList) != nil
            case ContextNames.delegation:
                isDelegate = true
                delegators = child.all(ContextNames.delegator).map(\.trimmedText)
            default: extensions.take(child)
            }
        }
        self.extensions = extensions.block
    }
}

// MARK: encode

extension SubscriptionContextDocument {
    /// Writes the `subscriptionContext` element with its namespace declared.
    public func write(to writer: inout XMLWriter) {
        writer.start("subscriptionContext")
        writer.namespace("", .msSubscriptionContext)
        writer.attribute("majorVersion", String(majorVersion))
        writer.attribute("minorVersion", String(minorVersion))
        writer.attributes(attributes)
        if isContact {
            writer.start("watcher")
            writer.element("contactList")
            writer.end()
        }
        if isDelegate {
            writer.start("delegation")
            for delegator in delegators { writer.element("delegator", delegator) }
            writer.end()
        }
        writer.generations(extensions)
        writer.end()
    }
}
