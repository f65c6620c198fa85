import PresenceDocuments
import Registration
import SIPCore
import SIPEvents
import UserDirectory

/// Changes of the directory of users (MS-PRES 3.2.6.2).
extension HomeServerFlow {
    /// Replaces the directory: publishes changed data, and ends dialogs and registrations of users that are gone or disabled.
    func use(directory state: DirectoryState, at now: Instant) {
        commitLog.noteInput(at: now)
        ports.addOwnRecords()
        defer { ports.dropIdleRecords() }
        context.directory.replace(by: state, at: DateTime(now))
        guard case .known(let users) = state else { return }
        ports.directoryChanged(users, at: now)
        // Last, because the final NOTIFYs are sent to the registered addresses (MS-PRES 1.3.1.3.10).
        for user in home.registrar.boundUsers.sorted() where directory.has(user) == false && SIPURI(user).map(isInDirectory) == true {
            bindingsEnded(home.registrar.endAll(of: user), at: now)
        }
        scheduleRegistrar()
    }
}
