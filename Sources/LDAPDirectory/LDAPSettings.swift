import UserDirectory

/// A property of a user that is read from an attribute: a text of `DirectoryField`, or one of the others listed here.
package enum LDAPField: Hashable, Sendable, CaseIterable {
    case uri
    case text(DirectoryField)
    case enabled
    case secondaryURIs
    case otherEmails
    case verifiers

    /// All fields: `uri`, the texts, then the others.
    package static let allCases: [LDAPField] =
        [.uri] + DirectoryField.allCases.map(LDAPField.text) + [.enabled, .secondaryURIs, .otherEmails, .verifiers]

    /// The key of the field in configuration files.
    package var name: String {
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
    package var usualAttribute: String? {
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
package struct LDAPSettings: Hashable, Sendable {
    /// `ldap://HOST:PORT` or `ldaps://HOST:PORT`.
    package var url: String
    /// The DN under which users are searched, to any depth.
    package var base: String
    /// The search filter that selects users (RFC 4515).
    package var filter = "(msRTCSIP-PrimaryUserAddress=*)"
    /// The DN for a simple bind; nil: bind anonymously.
    package var bindDN: String?
    /// A file with the password of the bind DN in its first line, read again for each refresh; needed with a bind DN.
    package var passwordFile: String?
    /// Whether to start TLS on an `ldap` connection before the bind (RFC 4511 4.14).
    package var startTLS = false
    /// A PEM file of trusted certificates for the server's certificate; nil: the system's.
    package var trust: String?
    /// Seconds between the end of one read and the start of the next.
    package var refresh = 300
    /// Timeout of one operation in seconds.
    package var timeout = 10
    /// Entries per page (RFC 2696).
    package var pageSize = 500
    /// Largest number of entries; a read with more fails.
    package var entryLimit = 100_000
    /// The attribute of each field; fields without an attribute are not read.
    package var attributes: [LDAPField: String]

    /// Creates settings with the usual attributes.
    package init(url: String, base: String) {
        self.url = url
        self.base = base
        attributes = [:]
        for field in LDAPField.allCases { attributes[field] = field.usualAttribute }
    }
}

/// The reason users could not be read.
package struct LDAPFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The failed step: `open`, `option`, `trust`, `STARTTLS`, `TLS`, `bind`, `search` or `users`.
    package var operation: String
    /// The error text of the library or server, or a message of Isthmus.
    package var reason: String

    /// Creates a failure.
    package init(operation: String, reason: String) {
        self.operation = operation
        self.reason = reason
    }

    /// `OPERATION: REASON`.
    package var description: String { "\(operation): \(reason)" }
}
