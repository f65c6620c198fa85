import FederationRouting
import PresenceDocuments
import SIPCore
import UserDirectory

/// Source of the users of hosted enterprise domains.
package enum DirectoryState: Hashable, Sendable {
    /// No directory: every user of a hosted domain exists.
    case none
    /// The directory could not be read yet: whether a user exists is unknown.
    case unavailable
    /// Only these users exist.
    case known(UserDirectory)
}

/// Directory of one shard, with the time of each user's data.
struct HostedDirectory {
    private(set) var state = DirectoryState.none
    /// Time of the first directory.
    private var since = DateTime(nanosecondsSince1970: 0)
    /// Times at which later directories changed the data of users.
    private var changed: [String: DateTime] = [:]

    init(_ state: DirectoryState = .none) {
        self.state = state
        if case .known(let directory) = state { since = directory.asOf }
    }

    var users: UserDirectory? {
        if case .known(let users) = state { users } else { nil }
    }

    /// Time since which the user's data is current; independent of any activity of the user.
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

    /// Whether the user exists; nil: unknown.
    func has(_ key: String) -> Bool? {
        switch state {
        case .none: true
        case .unavailable: nil
        case .known(let users): users.enabledUser(key) != nil
        }
    }

    /// Whether a directory names the user; false without a directory.
    func names(_ key: String) -> Bool {
        if case .known(let users) = state { users.enabledUser(key) != nil } else { false }
    }
}

extension RequestScreening {
    /// Refuses a URI that is no user of its hosted enterprise domain (MS-PRES 3.3.5.3, 3.4.5.3).
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
    /// The same for unknown and disabled users.
    static let noSuchUser = Refusal(.notFound, "MS-PRES 3.4.5.3: no user of this domain has this URI", errorID: 4005)
}
