import PresenceDocuments
import SIPCore
import SIPSecurity

/// Why a list of users cannot form a directory.
public enum UserDirectoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Two users have equal SIP URIs (RFC 3261 19.1.4).
    case duplicate(uri: String)
    /// Two users of one domain have the same login name, ignoring case.
    case duplicateAccount(uri: String, account: String)
    /// There are more users than the limit allows.
    case tooMany(count: Int, limit: Int)

    /// An error message that names the user or the counts.
    public var description: String {
        switch self {
        case .duplicate(let uri): "\(uri) is there twice"
        case .duplicateAccount(let uri, let account): "\(uri) signs in as \"\(account)\" like another user of its domain"
        case .tooMany(let count, let limit): "\(count) users are more than \(limit)"
        }
    }
}

/// An immutable snapshot of the users of the hosted domains, independent of its source; the edges read files and directory
/// services.
public struct UserDirectory: Hashable, Sendable {
    /// Default limit of users in one directory.
    public static let standardLimit = 500_000

    /// Time of this state of the source; becomes the publish time of ``DirectoryUser/serverPublications``.
    package let asOf: DateTime
    /// The users in the order of their keys.
    public let users: [DirectoryUser]
    private let places: [String: Int]
    private let accounts: [String: Int]
    let index: SearchIndex

    /// Creates a directory and its search index; `users` may be in any order.
    /// - Throws: ``UserDirectoryError`` for more than `limit` users, equal SIP URIs, or equal login names within a domain.
    public init(
        _ users: [DirectoryUser] = [], asOf: DateTime = DateTime(nanosecondsSince1970: 0), limit: Int = UserDirectory.standardLimit
    ) throws(UserDirectoryError) {
        guard users.count <= limit else { throw .tooMany(count: users.count, limit: limit) }
        self.asOf = asOf
        self.users = users.sorted { $0.key < $1.key }
        var places: [String: Int] = [:]
        var accounts: [String: Int] = [:]
        places.reserveCapacity(users.count)
        accounts.reserveCapacity(users.count)
        for (place, user) in self.users.enumerated() {
            guard places.updateValue(place, forKey: user.key) == nil else { throw .duplicate(uri: user.uri.description) }
            guard accounts.updateValue(place, forKey: Self.accountKey(user.account, user.domain)) == nil else {
                throw .duplicateAccount(uri: user.uri.description, account: user.account)
            }
        }
        self.places = places
        self.accounts = accounts
        index = SearchIndex(self.users)
    }

    /// Number of users, disabled ones included.
    public var count: Int { users.count }

    /// The user with this `aorKey`, enabled or not.
    public subscript(key: String) -> DirectoryUser? { places[key].map { users[$0] } }

    /// The user with this `aorKey`; nil if unknown or disabled.
    package func enabledUser(_ key: String) -> DirectoryUser? {
        guard let user = self[key], user.isEnabled else { return nil }
        return user
    }

    /// The account for a login name, compared ignoring case; nil if the name is unknown, or the user is disabled or has no
    /// password.
    package func account(_ name: LoginName) -> Account? {
        guard let place = accounts[Self.accountKey(name.user, name.domain)], users[place].isEnabled, let verifiers = users[place].verifiers
        else { return nil }
        return Account(identity: users[place].key, verifiers: verifiers)
    }

    private static func accountKey(_ account: String, _ domain: String) -> String { account.lowercased() + "@" + domain }
}
