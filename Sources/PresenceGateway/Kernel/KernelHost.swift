import FederationRouting
import SIPCore

/// The shard as the kernel sees it: rights of peers, service of requests, and stored records.
protocol KernelHost: AnyObject {
    // MARK: received messages

    /// Decides about the admission of a request.
    /// - Parameter message: the received message, kept if it has to wait.
    func admission(
        of request: SIPRequest, from source: MessageSource, in message: InboundMessage, at now: Instant
    ) -> TransactionLayer.Admission

    /// Serves a received request, or refuses it.
    func receive(_ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant)

    /// Whether a host may answer a request sent to another host.
    func mayAnswer(_ transaction: ClientTransactionID, from source: MessageSource) -> Bool

    /// Notes a response that was refused.
    func noteRefusedAnswer(_ fault: TransactionAction.AnswerFault, from source: MessageSource, at now: Instant)

    // MARK: sent messages

    /// Signs a response to a request of a security association.
    func sign(_ response: inout SIPResponse, of transaction: ServerTransactionID)

    /// Signs a request to a client with a security association.
    func sign(_ request: inout SIPRequest, to destination: Destination, at now: Instant)

    /// The presence model of the client of a response.
    func side(ofResponse response: SIPResponse) -> DomainSide

    /// Adds credentials to a request.
    /// - Returns: the request for repetition; nil: neither credentials nor redirections can require one.
    func authorize(
        _ request: inout SIPRequest, to destination: Destination, over transport: TransportProtocol, own: TransactionLayer.HostPort,
        for origin: RequestOrigin
    ) -> RepeatableRequest?

    // MARK: servers of partners

    /// Notes a sent request.
    func noteSent(for origin: RequestOrigin)

    /// Notes a final response.
    func noteAnswer(_ status: SIPStatus, to pendingRequest: PendingRequest, at now: Instant)

    /// Notes that no server answered, was reached, or was located.
    func noteSilence(of origin: RequestOrigin, _ reason: String, _ failure: DeliveryFailure, at now: Instant)

    /// Answers a challenge by repeating the request.
    /// - Returns: false if the challenge cannot be met; the response is processed then.
    func meetChallenge(_ response: SIPResponse, to pendingRequest: PendingRequest, at now: Instant) -> Bool

    /// Notes the located servers of a hop target.
    func noteLocated(_ result: Result<HopPlan, HopFailure>, of hopTarget: HopTarget, until: Instant)

    // MARK: connections and records

    /// Removes and returns the records that are reached over a connection only, in the order of their cleanup.
    func takeRecords(over connection: ConnectionID) -> [Ticket]

    /// Handles the end of a connection, after the cleanup of its first records.
    func connectionClosed(_ connection: ConnectionID, _ end: ConnectionEnd, at now: Instant)

    /// The stored record of a key; nil: nothing to store.
    func record(of key: StoreKey) -> StoreRecord?

    /// Takes the stored records in place of the present state, because a commit that changed them failed, or its outcome is unknown.
    /// Changes by peers and the transport since then stay valid.
    /// - Parameter records: the stored ones of the records with these keys.
    func reload(_ keys: Set<StoreKey>, _ records: [StoreRecord], at now: Instant)
}
