import UserDirectory

/// A property of a user that is read from an attribute: a text of `DirectoryField`, or one of the others listed here.
public enum LDAPField: Hashable, Sendable, CaseIterable {
    case uri
    case text(DirectoryField)
    case enabled
    case secondaryURIs
    case otherEmails
    case verifiers

    /// All fields: `uri`, the texts, then the others.
    public static let allCases: [LDAPField] =
        [.uri] + DirectoryField.allCases.map(LDAPField.text) + [.enabled, .secondaryURIs, .otherEmails, .verifiers]

    /// The key of the field in configuration files.
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

    /// The default attribute: that of the user objects in MS-PRES 8.3; nil for `verifiers`, which have no usual attribute.
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

/// Connection, search and mapping of a directory service.
public struct LDAPSettings: Hashable, Sendable {
    /// `ldap://HOST:PORT` or `ldaps://HOST:PORT`.
    public var url: String
    /// The DN under which users are searched, to any depth.
    public var base: String
    /// The search filter that selects users (RFC 4515).
    public var filter = "(msRTCSIP-PrimaryUserAddress=*)"
    /// The DN for a simple bind; nil: bind anonymously.
    public var bindDN: String?
    /// A file with the password of the bind DN in its first line, read again for each refresh; needed with a bind DN.
    public var passwordFile: String?
    /// Whether to start TLS on an `ldap` connection before the bind (RFC 4511 4.14).
    public var startTLS = false
    /// A PEM file of trusted certificates for the server's certificate; nil: the system's.
    public var trust: String?
    /// Seconds between the end of one read and the start of the next.
    public var refresh = 300
    /// Timeout of one operation in seconds.
    public var timeout = 10
    /// Entries per page (RFC 2696).
    public var pageSize = 500
    /// Largest number of entries; a read with more fails.
    public var entryLimit = 100_000
    /// The attribute of each field; fields without an attribute are not read.
    public var attributes: [LDAPField: String]

    /// Creates settings with the usual attributes.
    public init(url: String, base: String) {
        self.url = url
        self.base = base
        attributes = [:]
        for field in LDAPField.allCases { attributes[field] = field.usualAttribute }
    }
}

/// The reason users could not be read.
public struct LDAPFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The failed step: `open`, `option`, `trust`, `STARTTLS`, `TLS`, `bind`, `search` or `users`.
    public var operation: String
    /// The error text of the library or server, or a message of Isthmus.
    public var reason: String

    /// Creates a failure.
    public init(operation: String, reason: String) {
        self.operation = operation
        self.reason = reason
    }

    /// `OPERATION: REASON`.
    public var description: String { "\(operation): \(reason)" }
}
