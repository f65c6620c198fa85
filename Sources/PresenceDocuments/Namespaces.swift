import XMLCore

/// Namespaces of the SIMPLE documents.
extension XMLNamespace {
    /// RFC 3863
    public static let pidf = XMLNamespace("urn:ietf:params:xml:ns:pidf")
    /// RFC 4479
    public static let dataModel = XMLNamespace("urn:ietf:params:xml:ns:pidf:data-model")
    /// RFC 4480
    public static let rpid = XMLNamespace("urn:ietf:params:xml:ns:pidf:rpid")
    /// RFC 4589
    public static let locationType = XMLNamespace("urn:ietf:params:xml:ns:location-type")
    /// RFC 4482
    public static let cipid = XMLNamespace("urn:ietf:params:xml:ns:pidf:cipid")
    /// RFC 5196
    public static let capabilities = XMLNamespace("urn:ietf:params:xml:ns:pidf:caps")
    /// RFC 4481
    public static let timedStatus = XMLNamespace("urn:ietf:params:xml:ns:pidf:timed-status")
    /// Draft RPID inside status (MS-PRES 2.2.2.8)
    public static let draftStatus = XMLNamespace("urn:ietf:params:xml:ns:pidf:status:rpid-status")
    /// Draft RPID inside tuple (MS-PRES 2.2.2.8)
    public static let draftTuple = XMLNamespace("urn:ietf:params:xml:ns:pidf:rpid-tuple")
    /// OMA presence extensions
    public static let omaPresence = XMLNamespace("urn:oma:xml:prs:pidf:oma-pres")
    /// RFC 5262
    public static let pidfDiff = XMLNamespace("urn:ietf:params:xml:ns:pidf-diff")
    /// RFC 3858
    public static let watcherInfo = XMLNamespace("urn:ietf:params:xml:ns:watcherinfo")
    /// RFC 4661
    public static let simpleFilter = XMLNamespace("urn:ietf:params:xml:ns:simple-filter")
    /// RFC 4662
    public static let rlmi = XMLNamespace("urn:ietf:params:xml:ns:rlmi")
    /// RFC 4826
    public static let resourceLists = XMLNamespace("urn:ietf:params:xml:ns:resource-lists")
    /// RFC 4745
    public static let commonPolicy = XMLNamespace("urn:ietf:params:xml:ns:common-policy")
    /// RFC 5025
    public static let presenceRules = XMLNamespace("urn:ietf:params:xml:ns:pres-rules")
    /// OMA conditions of presence rules
    public static let omaCommonPolicy = XMLNamespace("urn:oma:xml:xdm:common-policy")
    /// OMA transformations of presence rules
    public static let omaPresenceRules = XMLNamespace("urn:oma:xml:prs:pres-rules")
    /// RFC 4119, location inside PIDF
    public static let geopriv = XMLNamespace("urn:ietf:params:xml:ns:pidf:geopriv10")
    /// Isthmus extension: values that the standard vocabulary lacks.
    public static let exact = XMLNamespace("urn:isthmus:xml:ns:presence-exact")
}
