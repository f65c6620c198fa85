import FederationRouting
import SIPCore

/// A flow as the kernel sees it: the kernel moves messages and time for it, and names its records by tickets.
protocol KernelClient: AnyObject {
    // MARK: requests

    /// Handles the final response to a request.
    func receive(_ response: SIPResponse, to pendingRequest: PendingRequest, from source: MessageSource, at now: Instant)

    /// Handles a request that no server answered or was reached with.
    /// - Parameter connection: connection on which it was sent; nil: it was sent by address.
    func notDelivered(
        _ origin: RequestOrigin, _ failure: DeliveryFailure, _ reason: String, over connection: ConnectionID?, at now: Instant)

    /// Handles a request without a server to send it to; by default it was not delivered.
    func notLocated(_ origin: RequestOrigin, _ failure: HopFailure, at now: Instant)

    /// Handles a request that was not sent, because the changes that it depends on could not be stored.
    func notSent(_ origin: RequestOrigin, at now: Instant)

    /// Handles a value for another shard that was not sent, because the changes that it depends on could not be stored.
    func notSent(_ value: any Sendable, at now: Instant)

    /// Whether the response to a request is still awaited and no later request was created in its dialog: a request that follows one
    /// with a higher CSeq is refused (RFC 3261 12.2.2).
    func isLatest(_ request: SIPRequest, of origin: RequestOrigin) -> Bool

    /// Gives a repeated request the next number of its sequence (RFC 3261 22.2).
    /// - Returns: false if the request is obsolete or cannot be repeated.
    func renumber(_ request: inout SIPRequest, of origin: RequestOrigin) -> Bool

    // MARK: records

    /// Whether the record is still there.
    func exists(_ ticket: Ticket) -> Bool

    /// Whether the remote end of the record's dialog sends datagrams from a host, so that it may answer from there.
    func isSource(_ host: String, of ticket: Ticket) -> Bool

    /// Handles a timer that is due.
    func timerDue(_ ticket: Ticket, at now: Instant)

    /// Handles the loss of the connection of a record; it may have moved to another one.
    func connectionLost(_ connection: ConnectionID, of ticket: Ticket, at now: Instant)

    // MARK: store

    /// Repeats what waited for the store, after a successful commit.
    func storeWorks(at now: Instant)

    // MARK: servers

    /// Whether a missing response concerns all users of the asked domain, not only the record.
    func concernsPartner(_ failure: DeliveryFailure, of origin: RequestOrigin) -> Bool

    /// Handles a server that was not reached or did not answer a request of any flow.
    func serverFailed(_ target: TransportAddress, _ failure: DeliveryFailure, at now: Instant)
}

extension KernelClient {
    func receive(_ response: SIPResponse, to pendingRequest: PendingRequest, from source: MessageSource, at now: Instant) {}

    func notDelivered(
        _ origin: RequestOrigin, _ failure: DeliveryFailure, _ reason: String, over connection: ConnectionID?, at now: Instant
    ) {}

    func notLocated(_ origin: RequestOrigin, _ failure: HopFailure, at now: Instant) {
        notDelivered(origin, .transport, failure.description, over: nil, at: now)
    }

    func notSent(_ origin: RequestOrigin, at now: Instant) {}
    func notSent(_ value: any Sendable, at now: Instant) {}
    func isLatest(_ request: SIPRequest, of origin: RequestOrigin) -> Bool { false }
    func renumber(_ request: inout SIPRequest, of origin: RequestOrigin) -> Bool { false }
    func exists(_ ticket: Ticket) -> Bool { false }
    func isSource(_ host: String, of ticket: Ticket) -> Bool { false }
    func connectionLost(_ connection: ConnectionID, of ticket: Ticket, at now: Instant) {}
    func storeWorks(at now: Instant) {}
    func concernsPartner(_ failure: DeliveryFailure, of origin: RequestOrigin) -> Bool { false }
    func serverFailed(_ target: TransportAddress, _ failure: DeliveryFailure, at now: Instant) {}
}
