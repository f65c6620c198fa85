import PresenceDocuments

/// The `ms-diagnostics` of an answer: a number of MS-OCER and its text.
public struct Diagnostic: Hashable, Sendable {
    public var id: Int
    public var reason: String

    public init(id: Int, reason: String) {
        self.id = id
        self.reason = reason
    }

    public static let readOnlyPublication = Diagnostic(
        id: 2003, reason: "Category publication failed - Cannot overwrite read only publication")
    public static let memberLimit = Diagnostic(id: 2006, reason: "Container member limit exceeded")
    public static let categorySize = Diagnostic(id: 2010, reason: "Category size limit exceeded")
    public static let publicationVersion = Diagnostic(id: 2044, reason: "Publication version out of date")
}

/// Why a request was refused: the error of this room. Equality looks at what goes on the wire, not at the prose.
///
/// The fault is always the sender's; nothing was changed.
public struct EnhancedPresenceRefusal: Error, Sendable, CustomStringConvertible {
    /// SIP status of the answer, as the section names it.
    public var status: Int
    public var diagnostic: Diagnostic?
    /// Body of a 409 answer.
    public var fault: FaultDocument?
    /// What is wrong, and the section that forbids it.
    public var message: String

    public init(status: Int, diagnostic: Diagnostic? = nil, fault: FaultDocument? = nil, message: String) {
        self.status = status
        self.diagnostic = diagnostic
        self.fault = fault
        self.message = message
    }

    public var description: String { "\(status): \(message)" }
}

extension EnhancedPresenceRefusal: Equatable {
    public static func == (left: EnhancedPresenceRefusal, right: EnhancedPresenceRefusal) -> Bool {
        left.status == right.status && left.diagnostic == right.diagnostic && left.fault == right.fault
    }
}
