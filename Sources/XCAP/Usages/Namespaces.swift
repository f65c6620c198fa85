import PresenceDocuments
import XMLCore

/// Namespaces of the application usages.
extension XMLNamespace {
    /// RFC 4826 4
    static let rlsServices = XMLNamespace("urn:ietf:params:xml:ns:rls-services")
    /// RFC 4745
    static let commonPolicy = XMLNamespace("urn:ietf:params:xml:ns:common-policy")
    /// RFC 5025
    static let presenceRules = XMLNamespace("urn:ietf:params:xml:ns:pres-rules")
    /// Conditions that OMA adds to RFC 4745.
    static let omaCommonPolicy = XMLNamespace("urn:oma:xml:xdm:common-policy")
    /// Transformations that OMA adds to RFC 5025.
    static let omaPresenceRules = XMLNamespace("urn:oma:xml:prs:pres-rules")
    /// RFC 4825 12
    static let xcapCapabilities = XMLNamespace("urn:ietf:params:xml:ns:xcap-caps")
    /// OMA directory of documents
    static let xcapDirectory = XMLNamespace("urn:oma:xml:xdm:xcap-directory")
}
