import FederationRouting
import SIPCore

/// Requests of the border to the other flows.
protocol BorderPorts: AnyObject {
    // MARK: upstream subscriptions

    /// The domain that was asked in the dialog of a NOTIFY or BENOTIFY; nil: no upstream subscription has this dialog.
    func domainAsked(inDialogOf request: SIPRequest) -> String?

    /// Whether a domain has upstream subscriptions with watchers.
    func hasSubscriptions(atDomain name: String) -> Bool

    /// The servers of a next hop at which a domain has upstream subscriptions with watchers; empty for a next hop with one server.
    func subscribedServers(ofDomain name: String, at hop: NextHop) -> [TransportAddress]

    /// Number of unverified upstream subscriptions by domain, and the time of the first doubt.
    var unverifiedByDomain: [String: (count: Int, since: Instant)] { get }

    /// Refreshes one upstream subscription of a domain, which decides about the others.
    func sampleSubscriptions(ofDomain name: String, at now: Instant)

    /// Handles a partner that is down or up again.
    func partnerChanged(_ partner: String, isUp: Bool, at now: Instant)

    /// Handles a server that did not answer OPTIONS.
    func serverIsDown(_ server: TransportAddress, at now: Instant)

    /// Binds a subscription of a domain to the connection of an OPTIONS response, so that its end is noticed.
    func watchConnection(_ connection: ConnectionID?, ofDomain name: String)

    // MARK: journal

    /// Adds a refused request to the journal.
    /// - Parameter reason: the rule, if the response does not state it.
    func note(_ refusal: Refusal, of request: SIPRequest, because reason: String?, at now: Instant)
}
