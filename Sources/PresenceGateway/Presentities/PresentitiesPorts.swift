import EnhancedPresence
import Registration
import SIPCore
import SIPEvents

/// Requests of the hosted presentities to the other flows.
protocol PresentitiesPorts: AnyObject {
    // MARK: watchers

    /// Handles new state of a resource of a dialog: notifies the watcher unless it has that state.
    func sourceChanged(_ resource: WatchedResource, inDialog tag: String, at now: Instant)

    /// Number of dialogs of this shard that watch a presentity.
    func dialogCount(of presentity: String) -> Int

    /// Whether a hosted user is known apart from its presence: in the directory, by its lists or endpoints, or by dialogs about its data.
    func isKnown(_ user: String) -> Bool

    /// The watcher of a dialog; nil: the dialog has ended.
    func identity(ofDialog tag: String) -> WatcherIdentity?

    /// Whether the watcher of a dialog asked for privacy of its identity (RFC 3325 9.3).
    func hidesIdentity(ofDialog tag: String) -> Bool

    /// Applies a change of a watcher's access by the presentity's rules: ends the watch, or notifies the watcher.
    /// - Parameter former: the access before the change.
    func accessChanged(of resource: WatchedResource, inDialog tag: String, from former: WatchAccess?, at now: Instant)

    /// Drops a pending change that a block hides, for a watcher that was never shown presence; one that has other state is notified.
    func hideChange(of resource: WatchedResource, inDialog tag: String, at now: Instant)

    /// Notifies the user's self dialogs of a change of the user's data (MS-PRES 3.3.5.2).
    func notifyOwner(of presentity: HostedPresentity, _ change: PresentityChange, at now: Instant)

    // MARK: watcher information

    /// Notes that a watch began, or that another decision was made about it.
    func watchChanged(
        _ resource: WatchedResource, inDialog tag: String, by watcher: WatcherIdentity, hidesIdentity: Bool, isNew: Bool, at now: Instant)

    /// Notes the end of a watch.
    func watchEnded(_ resource: WatchedResource, inDialog tag: String, at now: Instant)

    /// Notes that the decisions of a presentity may be others.
    func decisionsChanged(of presentity: String, at now: Instant)

    // MARK: registrations

    /// Whether an endpoint of a user is registered.
    func isRegistered(_ endpoint: EndpointID, of user: String) -> Bool

    /// Whether any endpoint of a user is registered.
    func hasRegistrations(_ user: String) -> Bool
}
