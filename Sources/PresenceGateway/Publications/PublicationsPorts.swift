import EnhancedPresence
import FederationRouting
import PresenceDocuments
import Registration
import SIPCore

/// Requests of the publications to the other flows.
protocol PublicationsPorts: AnyObject {
    // MARK: hosted presentities

    /// Serves a PUBLISH for a presentity of a hosted domain.
    func publish(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ parties: RequestScreening.Parties, at now: Instant
    ) throws(Refusal)

    // MARK: home server

    /// Serves a SERVICE about a user of a hosted domain.
    func serve(_ service: ServiceRequest, _ kind: ServiceKind, at now: Instant) throws(Refusal)

    /// Serves a directory search.
    /// - Returns: false if the SERVICE is another one.
    func serveSearch(_ request: SIPRequest, _ transaction: ServerTransactionID?, at now: Instant) throws(Refusal) -> Bool

    /// Whether an endpoint of a user is registered.
    func isRegistered(_ endpoint: EndpointID, of user: String) -> Bool

    // MARK: requests

    /// 489 with Allow-Events (RFC 6665 4.2.1).
    var badEvent: Refusal { get }

    /// Refuses a request that was held.
    func refuse(_ request: SIPRequest, _ transaction: ServerTransactionID?, _ refusal: Refusal, at now: Instant)

    /// Takes the next moment for a restored publication; restored upstream subscriptions share the pace.
    func takeRestoreTurn(at now: Instant) -> Instant

    /// The first Contact of a 3xx that belongs to the partner and was not tried yet, with its route; nil: there is none.
    func redirection(
        of response: SIPResponse, from requestURI: String, visited: inout Set<String>, of domain: String, by hop: NextHop,
        beside flow: Flow?
    ) -> (uri: SIPURI, requestRoute: RequestRoute)?
}
