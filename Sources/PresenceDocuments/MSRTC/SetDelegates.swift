// MS-PRES 2.2.2.10.2 and 6.14: the request that changes the delegates of a user.

import XMLCore

/// Change of one delegate (MS-PRES 2.2.2.10.2).
public struct DelegateChange: Hashable, Sendable {
    /// Kind of change.
    public enum Action: String, Hashable, Sendable {
        /// Adds a delegate; also accepted for an existing one (MS-PRES 3.9.5.1).
        case add
        /// Changes a delegate; also accepted for one that does not exist (MS-PRES 3.9.5.1).
        case modify
        case remove
    }

    /// Delegate URI as written, trimmed.
    public var uri: String
    /// Kind of change.
    public var action: Action
    /// Whether the delegate may publish; false without the element (MS-PRES 3.9.5.1).
    public var mayPublish: Bool
    /// Whether the delegate may name delegates; false without the element.
    public var mayRedelegate: Bool

    /// Creates a change; by default without permissions.
    public init(uri: String, action: Action, mayPublish: Bool = false, mayRedelegate: Bool = false) {
        self.uri = uri
        self.action = action
        self.mayPublish = mayPublish
        self.mayRedelegate = mayRedelegate
    }
}

/// Change of exactly one delegate (MS-PRES 2.2.2.10.2).
public struct SetDelegatesDocument: Hashable, Sendable {
    /// Version of the list that the sender believes to be current; 0 for the first change.
    public var version: UInt32
    /// The one change of the request.
    public var change: DelegateChange
    /// Attributes and elements without a field here; kept and written again.
    public var foreign: ForeignContent

    public init(version: UInt32, change: DelegateChange, foreign: ForeignContent = ForeignContent()) {
        self.version = version
        self.change = change
        self.foreign = foreign
    }
}

// MARK: elements

private enum SetDelegatesNames {
    static let setDelegates = XMLName("setDelegates", in: .msDelegateManagement)
    static let delegate = XMLName("delegate", in: .msDelegateManagement)
    static let publishOperation = XMLName("publishOperation", in: .msDelegateManagement)
    static let redelegateOperation = XMLName("redelegateOperation", in: .msDelegateManagement)
}

// MARK: decode

extension SetDelegatesDocument: MSRTCDocument {
    /// Root element `setDelegates` of ``XMLCore/XMLNamespace/msDelegateManagement``.
    public static let rootName = SetDelegatesNames.setDelegates
    /// Media type, compared ignoring case; the standard prints `setDelegate`, once with a blank before the plus sign (MS-PRES
    /// 2.2.2.10.2).
    public static let mediaType = DocumentMediaType("application/msrtc-setdelegate+xml")
    static let rule: StaticString = "MS-PRES 6.14"

    /// Reads the request; requires `version` and exactly one delegate.
    public init(reading element: XMLElement) throws(DocumentError) {
        try element.expect(Self.rootName, rule: Self.rule)
        var attributes = AttributeReader(element, rule: Self.rule)
        let version = try attributes.requiredUnsigned("version")
        let delegates = element.all(SetDelegatesNames.delegate)
        guard let delegate = delegates.first else { throw element.missing(element: "delegate", rule: Self.rule) }
        guard delegates.count == 1 else {
            throw delegates[1].invalid(
                "delegate", value: delegates[1].attribute("uri") ?? "", expected: "alone: one request changes one delegate",
                rule: Self.rule)
        }
        self.init(version: version, change: try DelegateChange(reading: delegate))
        foreign.attributes = attributes.others(besides: ["version"])
        foreign.elements = element.children.filter { !$0.is(SetDelegatesNames.delegate) }.map { $0.fragment() }
    }
}

extension DelegateChange {
    fileprivate init(reading element: XMLElement) throws(DocumentError) {
        let rule = SetDelegatesDocument.rule
        var attributes = AttributeReader(element, rule: rule)
        let uri = try attributes.requiredString("uri").trimmed
        guard !uri.isEmpty else { throw element.invalid("uri", value: "", expected: "a SIP URI", rule: rule) }
        let name = try attributes.requiredString("action")
        guard let action = Action(rawValue: name) else {
            throw element.invalid("action", value: name, expected: "add, modify or remove", rule: rule)
        }
        self.init(
            uri: uri, action: action, mayPublish: try Self.isAllowed(element.first(SetDelegatesNames.publishOperation)),
            mayRedelegate: try Self.isAllowed(element.first(SetDelegatesNames.redelegateOperation)))
    }

    private static func isAllowed(_ element: XMLElement?) throws(DocumentError) -> Bool {
        guard let element else { return false }
        let rule = SetDelegatesDocument.rule
        switch element.attribute("authorization") {
        case "allow": return true
        case "deny": return false
        case let other?: throw element.invalid("authorization", value: other, expected: "allow or deny", rule: rule)
        case nil: throw element.missing(attribute: "authorization", rule: rule)
        }
    }
}

// MARK: encode

extension SetDelegatesDocument {
    /// Writes the `setDelegates` element with its namespace declared.
    public func write(to writer: inout XMLWriter) {
        writer.start("setDelegates")
        writer.namespace("", .msDelegateManagement)
        writer.attribute("version", String(version))
        writer.attributes(foreign.attributes)
        writer.start("delegate")
        writer.attribute("uri", change.uri)
        writer.attribute("action", change.action.rawValue)
        if change.action != .remove {
            for (name, isAllowed) in [("publishOperation", change.mayPublish), ("redelegateOperation", change.mayRedelegate)] {
                writer.start(name)
                writer.attribute("authorization", isAllowed ? "allow" : "deny")
                writer.end()
            }
        }
        writer.end()
        writer.fragments(foreign.elements)
        writer.end()
    }
}

extension XMLNamespace {
    /// Request setDelegates (MS-PRES 6.14).
    public static let msDelegateManagement = XMLNamespace("http://schemas.microsoft.com/2007/09/sip/delegate-management")
}
