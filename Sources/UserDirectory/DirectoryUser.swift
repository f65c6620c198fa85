import SIPCore
import SIPSecurity

/// Why something is no user of a directory: which field, which value, and the rule that it breaks.
public struct DirectoryProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The key of the field in files, such as `email`.
    public var field: String
    public var value: String
    public var rule: String

    public init(field: String, value: String, rule: String) {
        self.field = field
        self.value = value
        self.rule = rule
    }

    public var description: String { "\(field): \"\(value.prefix(80))\" \(rule)" }
}

/// What a directory knows of one user: the source of the data that the server publishes for him (MS-PRES 3.2.6.2).
public struct DirectoryUser: Hashable, Sendable {
    /// Longest SIP URI (MS-PRES 8.3).
    public static let uriByteLimit = 454

    /// The address of record: `sip:user@domain`.
    public let uri: SIPURI
    /// The key under which the gateway knows the user: the `aorKey` of ``uri``.
    public let key: String
    /// Further SIP URIs by which a search finds the user (msRTCSIP-SecondaryUserAddress, MS-PRES 8.3).
    public var secondaryURIs: [String] = []
    /// Further mail addresses by which a search finds the user (proxyAddresses, MS-PRES 8.3).
    public var otherEmails: [String] = []
    /// A disabled user does not exist for anybody, but keeps his data.
    public var isEnabled = true
    /// Found in searches by nobody but himself.
    public var isHidden = false
    /// What proves his password; nil: he cannot sign in by password.
    public var verifiers: CredentialVerifiers?
    private var texts: [DirectoryField: String] = [:]

    /// - Throws: When `uri` is not the SIP URI of a user (MS-PRES 8.3: `sip:user@host`, at most 454 octets).
    public init(_ uri: String) throws(DirectoryProblem) {
        func problem(_ rule: String) -> DirectoryProblem { DirectoryProblem(field: "uri", value: uri, rule: rule) }
        guard uri.utf8.count <= Self.uriByteLimit else {
            throw problem("must have at most \(Self.uriByteLimit) octets (MS-PRES 8.3)")
        }
        guard let parsed = SIPURI(uri), parsed.scheme == .sip, let user = parsed.user, !user.isEmpty, !parsed.host.isEmpty,
            parsed.description == parsed.addressOfRecord().description
        else { throw problem("must be a SIP URI of the form sip:user@domain (MS-PRES 8.3)") }
        self.uri = parsed
        key = parsed.aorKey
    }

    /// A text of the user; nil when the directory has none.
    public subscript(field: DirectoryField) -> String? { texts[field] }

    /// Sets or removes a text.
    /// - Throws: When the text breaks the field's rule; nothing is changed then.
    public mutating func set(_ field: DirectoryField, _ text: String?) throws(DirectoryProblem) {
        if let text, let rule = field.rule(brokenBy: text) {
            throw DirectoryProblem(field: field.rawValue, value: text, rule: rule)
        }
        texts[field] = text
    }

    /// The domain of the SIP URI, in lower case.
    public var domain: String { uri.domainKey }

    /// The name shown to others: the directory's, or the user part of the SIP URI.
    public var displayName: String { texts[.displayName] ?? uri.user ?? "" }

    public var email: String? { texts[.email] }

    /// The number shown to others: the first of work, mobile, other and home.
    public var phone: String? { texts[.workPhone] ?? texts[.mobilePhone] ?? texts[.otherPhone] ?? texts[.homePhone] }

    /// The name by which the user signs in, without a domain.
    public var account: String { texts[.account] ?? uri.user ?? "" }
}
