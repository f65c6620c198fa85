import UserDirectory

/// What a user may be read from: a field of text, or one of the few others.
public enum LDAPField: Hashable, Sendable, CaseIterable {
    case uri
    case text(DirectoryField)
    case enabled
    case secondaryURIs
    case otherEmails
    case verifiers

    public static let allCases: [LDAPField] =
        [.uri] + DirectoryField.allCases.map(LDAPField.text) + [.enabled, .secondaryURIs, .otherEmails, .verifiers]

    /// The key in configuration files.
    public var name: String {
        switch self {
        case .uri: "uri"
        case .text(let field): field.rawValue
        case .enabled: "enabled"
        case .secondaryURIs: "secondary-uris"
        case .otherEmails: "other-emails"
        case .verifiers: "verifiers"
        }
    }

    /// The attribute of the user objects that MS-PRES 8.3 names; nil: there is no usual one.
    public var usualAttribute: String? {
        switch self {
        case .uri: "msRTCSIP-PrimaryUserAddress"
        case .text(let field): field.attribute
        case .enabled: "msRTCSIP-UserEnabled"
        case .secondaryURIs: "msRTCSIP-SecondaryUserAddress"
        case .otherEmails: "proxyAddresses"
        case .verifiers: nil
        }
    }
}

/// Where and how users are read from a directory service.
public struct LDAPSettings: Hashable, Sendable {
    /// `ldap://HOST:PORT` or `ldaps://HOST:PORT`.
    public var url: String
    /// The entry under which users are looked for, to any depth.
    public var base: String
    /// Which entries are users (RFC 4515).
    public var filter = "(msRTCSIP-PrimaryUserAddress=*)"
    /// Who asks; nil: anonymously.
    public var bindDN: String?
    /// A file with the password in its first line; read anew for each refresh.
    public var passwordFile: String?
    /// Turn an `ldap` connection into an encrypted one before anything is said (RFC 4511 4.14).
    public var startTLS = false
    /// A file of certificates (PEM) that the server's must stand on; nil: those that the system trusts.
    public var trust: String?
    /// Seconds between two readings.
    public var refresh = 300
    /// Seconds that the server may take to answer one request.
    public var timeout = 10
    /// Entries asked for at a time (RFC 2696).
    public var pageSize = 500
    /// Entries read at most; a directory with more is refused whole.
    public var entryLimit = 100_000
    /// The attribute of each field; a field that is not here is not read.
    public var attributes: [LDAPField: String]

    public init(url: String, base: String) {
        self.url = url
        self.base = base
        attributes = [:]
        for field in LDAPField.allCases { attributes[field] = field.usualAttribute }
    }
}

/// Why users could not be read.
public struct LDAPFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was being done: `bind`, `search` and so on.
    public var operation: String
    /// The words of the library or the server.
    public var reason: String

    public init(operation: String, reason: String) {
        self.operation = operation
        self.reason = reason
    }

    public var description: String { "\(operation): \(reason)" }
}
