import PresenceDocuments
import SIPCore
import SIPSecurity

/// Why users are no directory.
public enum UserDirectoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Two users have one SIP URI, by the comparison of RFC 3261 19.1.4.
    case duplicate(uri: String)
    /// Two users of one domain sign in by one name, case aside.
    case duplicateAccount(uri: String, account: String)
    case tooMany(count: Int, limit: Int)

    public var description: String {
        switch self {
        case .duplicate(let uri): "\(uri) is there twice"
        case .duplicateAccount(let uri, let account): "\(uri) signs in as \"\(account)\" like another user of its domain"
        case .tooMany(let count, let limit): "\(count) users are more than \(limit)"
        }
    }
}

/// The users of the hosted domains at one moment: an immutable snapshot, whatever source it was read from.
///
/// Where it is read from (files, directory services) is the edges' business; here is only what it means.
public struct UserDirectory: Hashable, Sendable {
    /// Most users of one directory, unless told otherwise.
    public static let standardLimit = 500_000

    /// When the source was in this state; what is published from it carries this time.
    public let asOf: DateTime
    /// In the order of their keys.
    public let users: [DirectoryUser]
    private let places: [String: Int]
    private let accounts: [String: Int]
    let index: SearchIndex

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

    public var count: Int { users.count }

    /// The user with this `aorKey`, enabled or not.
    public subscript(key: String) -> DirectoryUser? { places[key].map { users[$0] } }

    /// The user with this `aorKey`, unless he is disabled: whoever is not here does not exist.
    public func enabledUser(_ key: String) -> DirectoryUser? {
        guard let user = self[key], user.isEnabled else { return nil }
        return user
    }

    /// What signing in under a name needs; nil when nobody enabled has this name, or he has no password.
    public func account(_ name: LoginName) -> Account? {
        guard let place = accounts[Self.accountKey(name.user, name.domain)], users[place].isEnabled, let verifiers = users[place].verifiers
        else { return nil }
        return Account(identity: users[place].key, verifiers: verifiers)
    }

    private static func accountKey(_ account: String, _ domain: String) -> String { account.lowercased() + "@" + domain }
}
