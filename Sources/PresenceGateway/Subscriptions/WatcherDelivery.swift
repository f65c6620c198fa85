import SIPCore

/// Destination of a dialog's notifications, and whether the watcher is reachable.
///
///     reachable --connection closed, restart--> away --SUBSCRIBE, REGISTER--> reachable
///                                                \--returnsBy, end of the registration, expiry--> removed
struct WatcherDelivery {
    /// Whether notifications reach the watcher.
    enum Reachability: Equatable {
        case reachable
        /// - Parameter returnsBy: time by which the watcher must return; nil: the dialog ends with the registration of its endpoint.
        case away(returnsBy: Instant?)
    }

    private(set) var flow: Flow
    private(set) var reachability = Reachability.reachable
    /// Partner through which the watcher is notified; nil: its domain is hosted here.
    private(set) var partner: String?
    /// Redirection that the outstanding NOTIFY follows; nil: none.
    private(set) var redirect: NotifyRedirect?
    /// Route of the notifications while the settings are the same; nil: not made yet, or not lasting.
    private(set) var route: NotificationRoute?

    init(over flow: Flow) { self.flow = flow }

    /// Whether the watcher has lost its only connection, so that a notification would be lost.
    var isAway: Bool { reachability != .reachable }

    /// Time by which a watcher that is away must return; nil: no such time.
    var returnsBy: Instant? { if case .away(let returnsBy) = reachability { returnsBy } else { nil } }

    /// Sets the partner of the watcher.
    mutating func serve(through partner: String?) { self.partner = partner }

    /// Notes a request of the watcher or a registration of its endpoint.
    mutating func reached(over flow: Flow) {
        self.flow = flow
        route = nil
        reachability = .reachable
    }

    /// Notes the end of the connection.
    mutating func disconnected() {
        flow.connection = nil
        route = nil
    }

    /// Keeps the route of the notifications.
    mutating func keep(_ route: NotificationRoute) { self.route = route }

    /// Drops the route, because the remote target or the route set may be another one.
    mutating func dropRoute() { route = nil }

    /// Notes that the watcher cannot be reached before it returns.
    mutating func left(returnsBy: Instant?) { reachability = .away(returnsBy: returnsBy) }

    /// Notes that the outstanding NOTIFY follows a redirection.
    mutating func follow(_ redirect: NotifyRedirect) { self.redirect = redirect }

    /// Notes that the outstanding NOTIFY follows no redirection any more.
    mutating func endRedirect() { redirect = nil }
}
