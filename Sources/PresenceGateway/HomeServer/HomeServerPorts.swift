import EnhancedPresence
import Registration
import SIPCore
import SIPEvents
import UserDirectory

/// Requests of the home server to the other flows.
protocol HomeServerPorts: AnyObject {
    // MARK: dialogs

    /// Names of the event packages, in the order of Allow-Events.
    var eventPackages: [String] { get }

    /// Dialogs about a user's own data, in the order of creation.
    func ownDialogs(of user: String) -> [WatcherDialog]

    /// Notifies a dialog of a change of its data.
    func stateChanged(of dialog: WatcherDialog, at now: Instant)

    /// Ends a dialog with the reason `deactivated` and its full state.
    func deactivate(_ dialog: WatcherDialog, at now: Instant)

    /// Ends the dialogs of an endpoint.
    func endDialogs(of endpoint: EndpointKey, at now: Instant)

    /// Moves the dialogs of an endpoint to its renewed registration.
    func moveDialogs(to binding: Binding, at now: Instant)

    // MARK: presentities

    /// Whether an endpoint without a registration has published for the user over a connection that is still open.
    func hasUnregisteredEndpoints(_ user: String) -> Bool

    /// Removes instances bound to ended endpoints, and with the last endpoint those bound to the user (MS-PRES 3.2.5.5).
    func endpointsEnded(_ endpoints: [String], of user: String, isLast: Bool, at now: Instant)

    /// Published state of a user; that of a new presentity if the user has no record.
    func publishedState(of owner: DataOwner) -> EnhancedPresentity

    /// Gives every user with subscribed endpoints a record, so that new data of the directory is notified.
    func addOwnRecords()

    /// Publishes changed data of the directory, and ends the presentities and dialogs of users that are gone or disabled.
    func directoryChanged(_ users: UserDirectory, at now: Instant)

    /// Drops the records that hold nothing.
    func dropIdleRecords()
}
