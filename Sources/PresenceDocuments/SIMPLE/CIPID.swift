import XMLCore

// RFC 4482, CIPID: Contact Information for PIDF
// namespace urn:ietf:params:xml:ns:pidf:cipid, inside PIDF

/// Contact information of a person, tuple or, in old documents, of the presence element (RFC 4482 3).
public struct CIPID: Hashable, Sendable {
    /// URI of a business card.
    public var card: String?
    public var displayName: String?
    public var homepage: String?
    public var icon: String?
    public var map: String?
    public var sound: String?

    public init(displayName: String? = nil) { self.displayName = displayName }

    public var isEmpty: Bool { self == CIPID() }
}
