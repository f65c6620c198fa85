import PresenceDocuments

/// The `ms-diagnostics` of a response: an error number of MS-OCER and its text.
public struct Diagnostic: Hashable, Sendable {
    /// The error number.
    public var id: Int
    /// The reason text, sent as it is.
    public var reason: String

    /// Creates a diagnostic.
    public init(id: Int, reason: String) {
        self.id = id
        self.reason = reason
    }

    /// 2003: publication to a pair or instance that only the server writes.
    public static let readOnlyPublication = Diagnostic(
        id: 2003, reason: "Category publication failed - Cannot overwrite read only publication")
    /// 2006: too many members or containers.
    public static let memberLimit = Diagnostic(id: 2006, reason: "Container member limit exceeded")
    /// 2010: a publication or category is too large, or there are too many instances.
    public static let categorySize = Diagnostic(id: 2010, reason: "Category size limit exceeded")
    /// 2044: the version of a publication or membership is not the stored one.
    public static let publicationVersion = Diagnostic(id: 2044, reason: "Publication version out of date")
}

/// The refusal of a request because of its content or a quota; nothing was changed.
///
/// Equality compares the parts sent in the response and ignores ``message``.
public struct EnhancedPresenceRefusal: Error, Sendable, CustomStringConvertible {
    /// SIP status of the response, as the section of the standard names it.
    public var status: Int
    /// The `ms-diagnostics` of the response; nil: none.
    public var diagnostic: Diagnostic?
    /// Body of a 409 response; nil for other statuses.
    public var fault: FaultDocument?
    /// The error with the section of the broken rule, for an operator.
    public var message: String

    /// Creates a refusal.
    public init(status: Int, diagnostic: Diagnostic? = nil, fault: FaultDocument? = nil, message: String) {
        self.status = status
        self.diagnostic = diagnostic
        self.fault = fault
        self.message = message
    }

    /// `STATUS: MESSAGE`.
    public var description: String { "\(status): \(message)" }
}

extension EnhancedPresenceRefusal: Equatable {
    /// Compares status, diagnostic and fault.
    public static func == (left: EnhancedPresenceRefusal, right: EnhancedPresenceRefusal) -> Bool {
        left.status == right.status && left.diagnostic == right.diagnostic && left.fault == right.fault
    }
}
