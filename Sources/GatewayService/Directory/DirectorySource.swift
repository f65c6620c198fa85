import LDAPDirectory
import PresenceGateway
import SIPSecurity
import Synchronization
import UserDirectory

/// Source of the users of hosted domains.
enum DirectorySource: Hashable, Sendable {
    /// A file of users; see ``DirectoryFile``.
    case file(String)
    /// A directory service that is read periodically.
    case ldap(LDAPSettings)
}

extension ProgramConfiguration {
    /// Hosted domains, in lower case.
    var directoryDomains: Set<String> { Set(domains.filter { $0.value.hosted }.keys) }

    /// Reads a directory file; a directory service is not read here, and is unavailable until its first read.
    /// - Throws: `ServiceFailure` with one line per mistake.
    package func loadDirectory() throws(ServiceFailure) -> DirectoryState {
        switch directory {
        case nil: .none
        case .file(let path): .known(try DirectoryFile.load(path, domains: directoryDomains))
        case .ldap: .unavailable
        }
    }
}

/// Current directory, for readers outside the event loops.
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

    /// Records a successful read of a directory service.
    /// - Returns: Whether users or their data changed.
    func refreshed(_ users: UserDirectory) -> Bool {
        contents.withLock { contents in
            contents.refreshes += 1
            if case .known(let former) = contents.state, former.users == users.users { return false }
            contents.state = .known(users)
            return true
        }
    }

    /// Records a failed read of a directory service; the known users stay.
    func refreshFailed() { contents.withLock { $0.failures += 1 } }

    /// Number of successful and failed reads of a directory service.
    var refreshCounts: (done: UInt64, failed: UInt64) { contents.withLock { ($0.refreshes, $0.failures) } }

    /// Number of users; nil without a directory or before its first successful read.
    var count: Int? { users?.count }

    /// Account for a sign-in name; nil when unknown.
    func account(_ name: LoginName) -> Account? { users?.account(name) }

    /// Whether an enabled user has this `aorKey`.
    func hasUser(_ key: String) -> Bool { users?.enabledUser(key) != nil }

    private var users: UserDirectory? {
        if case .known(let users) = state { users } else { nil }
    }
}
