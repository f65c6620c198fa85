import SIPCore
import SIPSecurity

/// An invalid value of a user: the field, the value, and the rule that it breaks.
public struct DirectoryProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The key of the field in files, such as `email`.
    package var field: String
    /// The rejected value, unshortened.
    public var value: String
    /// The broken rule, such as "must not be empty".
    package var rule: String

    /// Creates a problem.
    public init(field: String, value: String, rule: String) {
        self.field = field
        self.value = value
        self.rule = rule
    }

    /// `FIELD: "VALUE" RULE`, with the first 80 characters of the value.
    public var description: String { "\(field): \"\(value.prefix(80))\" \(rule)" }
}

/// One user of the directory: the source of the data that the server publishes for this user (MS-PRES 3.2.6.2).
public struct DirectoryUser: Hashable, Sendable {
    /// Largest length of a SIP URI in octets (MS-PRES 8.3).
    package static let uriByteLimit = 454

    /// The address of record: `sip:user@domain`.
    public let uri: SIPURI
    /// The key under which the gateway knows the user: the `aorKey` of ``uri``.
    public let key: String
    /// Further SIP URIs that searches match (msRTCSIP-SecondaryUserAddress, MS-PRES 8.3).
    package var secondaryURIs: [String] = []
    /// Further mail addresses that searches match (proxyAddresses, MS-PRES 8.3).
    package var otherEmails: [String] = []
    /// Whether the user may sign in and be watched. A disabled user is treated as unknown, but keeps stored data.
    package var isEnabled = true
    /// Whether searches by other users leave this user out.
    package var isHidden = false
    /// Path of a file with the presence rules of the user (RFC 5025); nil: the directory has none.
    package var rulesFile: String?
    /// Path of a file with the resource lists that the rules name (RFC 4826); nil: the directory has none.
    package var listsFile: String?
    /// Verifiers of the password; nil: the user cannot sign in with a password.
    package var verifiers: CredentialVerifiers?
    private var texts: [DirectoryField: String] = [:]

    /// Creates a user without further data.
    /// - Throws: ``DirectoryProblem`` unless `uri` is the SIP URI of a user (MS-PRES 8.3: `sip:user@host`, at most 454
    ///   octets).
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

    /// A text of the user; nil if the directory has none.
    public subscript(field: DirectoryField) -> String? { texts[field] }

    /// Sets a text, or removes it with nil.
    /// - Throws: ``DirectoryProblem`` if the text breaks the rule of its field; the user is unchanged then.
    public mutating func set(_ field: DirectoryField, _ text: String?) throws(DirectoryProblem) {
        if let text, let rule = field.rule(brokenBy: text) {
            throw DirectoryProblem(field: field.rawValue, value: text, rule: rule)
        }
        texts[field] = text
    }

    /// The domain of the SIP URI, in lower case.
    public var domain: String { uri.domainKey }

    /// The name shown to watchers: the directory's display name, else the user part of the SIP URI.
    public var displayName: String { texts[.displayName] ?? uri.user ?? "" }

    /// The main mail address; nil if the directory has none.
    public var email: String? { texts[.email] }

    /// The telephone number shown to watchers: the first of work, mobile, other and home; nil if there is none.
    public var phone: String? { texts[.workPhone] ?? texts[.mobilePhone] ?? texts[.otherPhone] ?? texts[.homePhone] }

    /// The login name without a domain: ``DirectoryField/account``, else the user part of the SIP URI.
    package var account: String { texts[.account] ?? uri.user ?? "" }
}
