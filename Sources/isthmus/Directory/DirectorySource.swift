import LDAPDirectory
import PresenceGateway
import SIPSecurity
import Synchronization
import UserDirectory

/// Where the users of the hosted domains are read from.
enum DirectorySource: Hashable, Sendable {
    /// A file of users; see ``DirectoryFile``.
    case file(String)
    /// A directory service, read again and again.
    case ldap(LDAPSettings)
}

extension ProgramConfiguration {
    /// The domains whose users a directory holds, in lower case.
    var directoryDomains: Set<String> { Set(domains.filter { $0.value.hosted }.keys) }

    /// Reads the directory as it is now; a directory service is not asked here, and unavailable until it was.
    /// - Throws: `CommandFailure` (input refused) with one line per mistake.
    func loadDirectory() throws(CommandFailure) -> DirectoryState {
        switch directory {
        case nil: .none
        case .file(let path): .known(try DirectoryFile.load(path, domains: directoryDomains))
        case .ldap: .unavailable
        }
    }
}

/// The directory that is in use now: what is read by whoever is not on a gateway's loop.
final class CurrentDirectory: Sendable {
    private struct Contents {
        var state: DirectoryState
        var refreshes: UInt64 = 0
        var failures: UInt64 = 0
    }

    private let contents: Mutex<Contents>

    init(_ state: DirectoryState) { contents = Mutex(Contents(state: state)) }

    var state: DirectoryState { contents.withLock { $0.state } }

    func replace(by state: DirectoryState) { contents.withLock { $0.state = state } }

    /// A directory service was read.
    /// - Returns: Whether it has other users, or other data of them, than before.
    func refreshed(_ users: UserDirectory) -> Bool {
        contents.withLock { contents in
            contents.refreshes += 1
            if case .known(let former) = contents.state, former.users == users.users { return false }
            contents.state = .known(users)
            return true
        }
    }

    /// A directory service could not be read: what is known stays.
    func refreshFailed() { contents.withLock { $0.failures += 1 } }

    /// How often a directory service was read, and could not be.
    var refreshCounts: (done: UInt64, failed: UInt64) { contents.withLock { ($0.refreshes, $0.failures) } }

    /// Number of users; nil where there is no directory, or none could be read yet.
    var count: Int? { users?.count }

    /// What signing in under a name needs.
    func account(_ name: LoginName) -> Account? { users?.account(name) }

    /// Whether there is an enabled user with this key of an address of record.
    func hasUser(_ key: String) -> Bool { users?.enabledUser(key) != nil }

    private var users: UserDirectory? {
        if case .known(let users) = state { users } else { nil }
    }
}
