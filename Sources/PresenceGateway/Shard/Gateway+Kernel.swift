import FederationRouting
import SIPCore

/// The shard as owner of the kernel.
extension Gateway: KernelHost {
    func side(ofResponse response: SIPResponse) -> DomainSide {
        screening.side(of: response.headers.cSeq?.method, response.headers)
    }

    func noteLocated(_ result: Result<HopPlan, HopFailure>, of hopTarget: HopTarget, until: Instant) {
        peers.noteLocated(result, of: hopTarget, until: until)
    }

    func takeRecords(over connection: ConnectionID) -> [Ticket] {
        dialogs.close(connection).compactMap { dialogs[$0]?.ticket }
    }

    func connectionClosed(_ connection: ConnectionID, _ end: ConnectionEnd, at now: Instant) {
        endpointsClosed(connection, at: now)
        registrationConnectionEnded(connection, at: now)
        flows.upstream.verifier.connectionEnded(connection, end, at: now)
    }

    func record(of key: StoreKey) -> StoreRecord? { flows.record(of: key) }
}
