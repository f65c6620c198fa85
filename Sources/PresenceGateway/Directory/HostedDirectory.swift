import PresenceDocuments
import SIPCore
import UserDirectory

/// Where the gateway has the users of its hosted enterprise domains from.
public enum DirectoryState: Hashable, Sendable {
    /// There is no directory: everybody of a hosted domain exists.
    case none
    /// There is one that could not be read yet: nobody can be said to exist or not.
    case unavailable
    /// Only these users exist.
    case known(UserDirectory)
}

/// The directory of one shard, and since when what it says of each user is so.
struct HostedDirectory {
    private(set) var state = DirectoryState.none
    /// When the first directory came to be as it is.
    private var since = DateTime(nanosecondsSince1970: 0)
    /// When a later one brought other data of a user.
    private var changed: [String: DateTime] = [:]

    init(_ state: DirectoryState = .none) {
        self.state = state
        if case .known(let directory) = state { since = directory.asOf }
    }

    var users: UserDirectory? {
        if case .known(let users) = state { users } else { nil }
    }

    /// Since when the data of that user are so: the same for whoever did anything here and whoever never did.
    func time(of key: String) -> DateTime { changed[key] ?? since }

    mutating func replace(by state: DirectoryState, at now: DateTime) {
        if case .known(let next) = state {
            if let former = users {
                for user in next.users where former[user.key] != user { changed[user.key] = now }
                changed = changed.filter { next[$0.key] != nil }
            } else {
                since = next.asOf
                changed = [:]
            }
        }
        self.state = state
    }

    /// Whether the user exists; nil: that cannot be said now.
    func has(_ key: String) -> Bool? {
        switch state {
        case .none: true
        case .unavailable: nil
        case .known(let users): users.enabledUser(key) != nil
        }
    }

    /// Whether a directory names the user; without one nobody is named.
    func names(_ key: String) -> Bool {
        if case .known(let users) = state { users.enabledUser(key) != nil } else { false }
    }
}

extension RequestScreening {
    /// Refuses what is about somebody who is no user of his hosted enterprise domain (MS-PRES 3.3.5.3, 3.4.5.3).
    func checkUser(_ uri: SIPURI, of domain: DomainConfiguration) throws(Refusal) {
        guard domain.hosted, domain.side == .enterprise else { return }
        switch directory.has(uri.aorKey) {
        case true?: return
        case false?: throw .noSuchUser
        case nil: throw .unavailable("the directory of users cannot be read now", retryAfter: configuration.timing.retryAfter)
        }
    }
}

extension Refusal {
    /// The same for one who never was a user, and one who is disabled.
    static let noSuchUser = Refusal(.notFound, "MS-PRES 3.4.5.3: no user of this domain has this URI", errorID: 4005)
}
