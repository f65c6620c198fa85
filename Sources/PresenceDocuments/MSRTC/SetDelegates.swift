// MS-PRES 2.2.2.10.2 and 6.14: the request that changes who may act for a user.

import XMLCore

/// What to do with one delegate (MS-PRES 2.2.2.10.2).
public struct DelegateChange: Hashable, Sendable {
    public enum Action: String, Hashable, Sendable {
        /// The delegate is new; also accepted for one that is there (MS-PRES 3.9.5.1).
        case add
        /// The delegate changes; also accepted for one that is not there (MS-PRES 3.9.5.1).
        case modify
        case remove
    }

    /// The delegate, as written.
    public var uri: String
    public var action: Action
    /// Whether the delegate may publish; an absent element means no (MS-PRES 3.9.5.1).
    public var mayPublish: Bool
    /// Whether the delegate may name delegates; an absent element means no.
    public var mayRedelegate: Bool

    public init(uri: String, action: Action, mayPublish: Bool = false, mayRedelegate: Bool = false) {
        self.uri = uri
        self.action = action
        self.mayPublish = mayPublish
        self.mayRedelegate = mayRedelegate
    }
}

/// The change of exactly one delegate (MS-PRES 2.2.2.10.2).
public struct SetDelegatesDocument: Hashable, Sendable {
    /// The version of the list that the sender believes to be current; 0 for the first change.
    public var version: UInt32
    public var change: DelegateChange
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
    public static let rootName = SetDelegatesNames.setDelegates
    /// Compared without case; the standard prints `setDelegate`, once with a blank before the plus sign (MS-PRES 2.2.2.10.2).
    public static let mediaType = DocumentMediaType("application/msrtc-setdelegate+xml")
    static let rule: StaticString = "MS-PRES 6.14"

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
    /// setDelegates request (MS-PRES 6.14).
    public static let msDelegateManagement = XMLNamespace("http://schemas.microsoft.com/2007/09/sip/delegate-management")
}
