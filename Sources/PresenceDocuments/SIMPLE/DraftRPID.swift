import XMLCore

// MS-PRES 2.2.2.8, PIDF with draft RPID: one tuple, activities as text inside status
// namespaces urn:ietf:params:xml:ns:pidf:status:rpid-status and urn:ietf:params:xml:ns:pidf:rpid-tuple, media type application/pidf+xml

/// Other identities of the presentity (MS-PRES 2.2.2.8).
public struct LinkedIdentities: Hashable, Sendable {
    public var primaryID: String?
    public var secondary: [String]

    public init(primaryID: String? = nil, secondary: [String] = []) {
        self.primaryID = primaryID
        self.secondary = secondary
    }
}
