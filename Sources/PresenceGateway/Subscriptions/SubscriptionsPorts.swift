import FederationRouting
import Registration
import SIPCore
import SIPEvents

/// Requests of the notifier to the other flows.
protocol SubscriptionsPorts: AnyObject {
    /// Refuses a request, which is logged and added to the journal.
    func refuse(_ request: SIPRequest, _ transaction: ServerTransactionID?, _ refusal: Refusal, at now: Instant)

    /// Orders the views that a SUBSCRIBE needs of other shards, and keeps it until they are there; it is served again then.
    /// - Parameter dialog: its dialog.
    /// - Returns: false: it can be served now.
    func park(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, needing drafts: @autoclosure () -> [WatchDraft],
        for dialog: ParkedDialog, at now: Instant
    ) -> Bool

    /// Handles the timer of a kept SUBSCRIBE.
    func parkedTimerDue(_ ticket: Ticket, at now: Instant)

    // MARK: peers

    /// Checks that the Record-Route of a request names servers of its sender only.
    func checkPath(_ request: SIPRequest, of user: SIPURI, _ flow: Flow) throws(Refusal)

    /// Whether a request within a dialog is from its remote party.
    func isRemoteEnd(_ key: String, _ request: SIPRequest, _ flow: Flow) -> Bool

    // MARK: routes

    /// Route of a request within a dialog.
    func requestRoute(of dialog: Dialog, flow: Flow?, hop: NextHop?, to user: SIPURI) -> RequestRoute

    /// Whether routes by a next hop over a connection are the same until the configuration changes.
    func isLasting(_ hop: NextHop?) -> Bool

    /// The first Contact of a 3xx that belongs to the partner and was not tried yet, with its route; nil: there is none.
    func redirection(
        of response: SIPResponse, from requestURI: String, visited: inout Set<String>, of domain: String, by hop: NextHop,
        beside flow: Flow?
    ) -> (uri: SIPURI, requestRoute: RequestRoute)?

    /// The registration of an endpoint; nil: none.
    func binding(of user: String, endpoint: EndpointID) -> Binding?
}
