import SIPCore

/// The route of a dialog's notifications, and what else follows from the configuration, the flow and the remote target alone.
///
///     first notification --> made --connection, next hop without lookup--> kept in ``WatcherDelivery``, shared by ``NotificationRoutes``
///     kept --SUBSCRIBE in the dialog, another flow, its connection closed, failed commit--> dropped
///     kept --configuration or directory replaced: another generation--> not used any more
///
/// A route that depends on located servers, or on the system's routes, is made for each notification.
final class NotificationRoute {
    let requestRoute: RequestRoute
    /// Value of Contact.
    let contact: String
    /// Whether the watcher's domain may get an asserted identity.
    let assertsIdentity: Bool
    /// Whether the remote target may be a GRUU.
    let mayBeGRUU: Bool
    /// ``ShardContext/generation`` in which it was made.
    let generation: Int

    init(_ requestRoute: RequestRoute, contact: String, assertsIdentity: Bool, mayBeGRUU: Bool, generation: Int) {
        self.requestRoute = requestRoute
        self.contact = contact
        self.assertsIdentity = assertsIdentity
        self.mayBeGRUU = mayBeGRUU
        self.generation = generation
    }

    fileprivate func isSame(as other: NotificationRoute) -> Bool {
        requestRoute == other.requestRoute && contact == other.contact && assertsIdentity == other.assertsIdentity
            && mayBeGRUU == other.mayBeGRUU && generation == other.generation
    }
}

/// The newest route over each connection, so that the dialogs of a connection share one.
struct NotificationRoutes {
    private var newest: [ConnectionID: NotificationRoute] = [:]

    /// Largest number of entries: dialogs may name connections that are closed.
    private static let limit = 16_384

    /// Number of connections with a route.
    var count: Int { newest.count }

    /// The known route that is the same, or this one.
    mutating func shared(_ route: NotificationRoute, over connection: ConnectionID) -> NotificationRoute {
        if let known = newest[connection], known.isSame(as: route) { return known }
        if newest.count >= Self.limit { newest.removeAll() }
        newest[connection] = route
        return route
    }

    /// Forgets a connection that was closed.
    mutating func close(_ connection: ConnectionID) {
        if !newest.isEmpty { newest[connection] = nil }
    }
}

extension SubscriptionsFlow {
    /// The route of a notification without redirection.
    /// - Parameter requestURI: its Request-URI.
    func route(of watcher: WatcherDialog, toward requestURI: String) -> NotificationRoute {
        if let kept = watcher.delivery.route, kept.generation == context.generation { return kept }
        let hop = hop(toward: watcher.watcher)
        let requestRoute = ports.requestRoute(of: watcher.dialog, flow: watcher.flow, hop: hop, to: watcher.watcher)
        let made = NotificationRoute(
            requestRoute, contact: contact(by: requestRoute),
            assertsIdentity: mayAssertIdentity(toward: configuration.domain(of: watcher.watcher)),
            mayBeGRUU: requestURI.mayHaveParameterG, generation: context.generation)
        guard let connection = watcher.flow.connection, ports.isLasting(hop) else { return made }
        let shared = shareRoute(made, over: connection)
        watcher.keep(shared)
        return shared
    }
}

extension String {
    /// Whether a URI may have a parameter whose name begins with `g`: false is certain.
    fileprivate var mayHaveParameterG: Bool {
        var isAfterSemicolon = false
        for octet in utf8 {
            if isAfterSemicolon, octet | 0x20 == UInt8(ascii: "g") || octet == UInt8(ascii: "%") { return true }
            isAfterSemicolon = octet == UInt8(ascii: ";")
        }
        return false
    }
}
