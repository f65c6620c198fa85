import FederationRouting
import SIPCore

/// The flows as the kernel sees them: dispatch of requests, rights of peers, and records.
final class FlowsHost: FlowsPart, KernelHost {
    func side(ofResponse response: SIPResponse) -> DomainSide {
        screening.side(of: response.headers.cSeq?.method, response.headers)
    }

    func takeRecords(over connection: ConnectionID) -> [Ticket] {
        flows.subscriptions.takeRecords(over: connection)
    }

    func connectionClosed(_ connection: ConnectionID, _ end: ConnectionEnd, at now: Instant) {
        flows.presenceSubscriptions.views.connectionClosed(connection, at: now)
        flows.publications.endpointsClosed(connection, at: now)
        flows.presentities.endpoints.closed(connection, at: now)
        flows.homeServer.registrationConnectionEnded(connection, at: now)
        flows.upstream.verifier.connectionEnded(connection, end, at: now)
    }

    func record(of key: StoreKey) -> StoreRecord? { flows.record(of: key) }

    func reload(_ keys: Set<StoreKey>, _ records: [StoreRecord], at now: Instant) {
        let stored = StoredRecords(keys, records)
        for step in flows.persistent.map({ $0.reload(stored, at: now) }) { step?() }
    }
}

// MARK: border

extension FlowsHost {
    func admission(
        of request: SIPRequest, from source: MessageSource, in message: InboundMessage, at now: Instant
    ) -> TransactionLayer.Admission {
        flows.border.admission(of: request, from: source, in: message, at: now)
    }

    func mayAnswer(_ transaction: ClientTransactionID, from source: MessageSource) -> Bool {
        flows.border.mayAnswer(transaction, from: source)
    }

    func noteRefusedAnswer(_ fault: TransactionAction.AnswerFault, from source: MessageSource, at now: Instant) {
        flows.border.noteRefusedAnswer(fault, from: source, at: now)
    }

    func sign(_ response: inout SIPResponse, of transaction: ServerTransactionID) { flows.border.sign(&response, of: transaction) }

    func sign(_ request: inout SIPRequest, to destination: Destination, at now: Instant) {
        flows.border.sign(&request, to: destination, at: now)
    }

    func authorize(
        _ request: inout SIPRequest, to destination: Destination, over transport: TransportProtocol, own: TransactionLayer.HostPort,
        for origin: RequestOrigin
    ) -> RepeatableRequest? {
        flows.border.signIns.authorize(&request, to: destination, over: transport, own: own, for: origin)
    }

    func noteSent(for origin: RequestOrigin) { flows.border.partners.noteSent(for: origin) }

    func noteAnswer(_ status: SIPStatus, to pendingRequest: PendingRequest, at now: Instant) {
        flows.border.noteAnswer(status, to: pendingRequest, at: now)
    }

    func noteSilence(of origin: RequestOrigin, _ reason: String, _ failure: DeliveryFailure, at now: Instant) {
        flows.border.noteSilence(of: origin, reason, failure, at: now)
    }

    func meetChallenge(_ response: SIPResponse, to pendingRequest: PendingRequest, at now: Instant) -> Bool {
        flows.border.signIns.meetChallenge(response, to: pendingRequest, at: now)
    }

    func noteLocated(_ result: Result<HopPlan, HopFailure>, of hopTarget: HopTarget, until: Instant) {
        flows.border.noteLocated(result, of: hopTarget, until: until)
    }
}
