import FederationRouting
import SIPCore
import Testing

@testable import PresenceGateway

/// The kernel with a flow and a shard of its own, which it knows by tickets and protocols only.
@Suite struct GatewayKernelTests {
    /// Records its callbacks.
    private final class Client: KernelClient {
        var events: [String] = []

        func receive(_ response: SIPResponse, to pendingRequest: PendingRequest, from source: MessageSource, at now: Instant) {
            let origin = pendingRequest.origin
            events.append("\(response.status.rawValue) to \(origin.mark) of \(origin.ticket.key.slot)")
        }

        func notDelivered(
            _ origin: RequestOrigin, _ failure: DeliveryFailure, _ reason: String, over connection: ConnectionID?, at now: Instant
        ) {
            events.append("\(failure) for \(origin.mark) of \(origin.ticket.key.slot)")
        }

        func notSent(_ origin: RequestOrigin, at now: Instant) {
            events.append("not sent: \(origin.mark) of \(origin.ticket.key.slot)")
        }

        func timerDue(_ ticket: Ticket, at now: Instant) { events.append("timer of \(ticket.key.slot)") }
        func storeWorks(at now: Instant) { events.append("store works") }
    }

    /// Admits every request and serves none.
    private final class Host: KernelHost {
        func admission(
            of request: SIPRequest, from source: MessageSource, in message: InboundMessage, at now: Instant
        ) -> TransactionLayer.Admission { .admitted }
        func receive(_ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant) {}
        func mayAnswer(_ transaction: ClientTransactionID, from source: MessageSource) -> Bool { false }
        func noteRefusedAnswer(_ fault: TransactionAction.AnswerFault, from source: MessageSource, at now: Instant) {}
        func sign(_ response: inout SIPResponse, of transaction: ServerTransactionID) {}
        func sign(_ request: inout SIPRequest, to destination: Destination, at now: Instant) {}
        func side(ofResponse response: SIPResponse) -> DomainSide { .simple }
        func authorize(
            _ request: inout SIPRequest, to destination: Destination, over transport: TransportProtocol, own: TransactionLayer.HostPort,
            for origin: RequestOrigin
        ) -> RepeatableRequest? { nil }
        func noteSent(for origin: RequestOrigin) {}
        func noteAnswer(_ status: SIPStatus, to pendingRequest: PendingRequest, at now: Instant) {}
        func noteSilence(of origin: RequestOrigin, _ reason: String, _ failure: DeliveryFailure, at now: Instant) {}
        func meetChallenge(_ response: SIPResponse, to pendingRequest: PendingRequest, at now: Instant) -> Bool { false }
        func noteLocated(_ result: Result<HopPlan, HopFailure>, of hopTarget: HopTarget, until: Instant) {}
        func takeRecords(over connection: ConnectionID) -> [Ticket] { [] }
        func connectionClosed(_ connection: ConnectionID, _ end: ConnectionEnd, at now: Instant) {}
        func record(of key: StoreKey) -> StoreRecord? { nil }
        func reload(_ keys: Set<StoreKey>, _ records: [StoreRecord], at now: Instant) { client?.events.append("reload of \(keys.count)") }
        weak var client: Client?
    }

    private final class Scene {
        let client = Client()
        let host = Host()
        let kernel: GatewayKernel
        let ticket = Ticket(FlowID(rawValue: 1), SlabKey(slot: 7, generation: 3))
        var now = Instant(secondsSince1970: 1_700_000_000)

        init(store: (any GatewayStore)? = nil, defersCommits: Bool = false) {
            kernel = GatewayKernel(
                Bench.configuration(), TransactionLayer.Configuration(sentBy: [:]), key: .seeded(1), prefix: "", shard: 0, store: store,
                defersCommits: defersCommits, localAddresses: nil)
            host.client = client
            kernel.connect(to: host, [client])
        }

        func sendOptions(mark: UInt64) {
            var request = SIPRequest(.options, uri: SIPURI(host: "example.org"))
            request.headers.maxForwards = 70
            request.headers.from = NameAddr(SIPURI(host: "edge1.example.net"), parameters: SIPParameters([.init("tag", "1")]))
            request.headers.to = NameAddr(SIPURI(host: "example.org"))
            request.headers.callID = "call"
            request.headers.cSeq = CSeq(1, .options)
            kernel.delivery.send(
                request, by: .direct(.address(Bench.simple, from: Bench.local), .udp, own: .init("192.0.2.1", 5060)),
                for: RequestOrigin(ticket: ticket, mark: mark), at: now)
        }

        /// Moves the clock, firing every timer at its own moment.
        func pass(_ span: TimeSpan) {
            let end = now + span
            while let due = kernel.nextDeadline, due <= end {
                kernel.advance(to: due)
                _ = kernel.takeOutput()
            }
            now = end
        }
    }

    @Test("A timer that is due reaches the flow of its ticket, once")
    func timer() {
        let scene = Scene()
        scene.kernel.timers.set(scene.ticket, at: scene.now + .seconds(1))
        scene.pass(.milliseconds(500))
        #expect(scene.client.events.isEmpty)
        scene.pass(.seconds(10))
        #expect(scene.client.events == ["timer of 7"])
    }

    @Test("RFC 3261 17.1.3: the final response to a request reaches the flow of its ticket, with the mark of the attempt")
    func response() throws {
        let scene = Scene()
        scene.sendOptions(mark: 5)
        let sent = try #require(scene.kernel.takeOutput().first)
        guard case .success(.request(let request)) = SIPParser.parse(sent.bytes) else { throw Bench.Unexpected() }
        let response = SIPResponse(to: request, status: .ok, toTag: "2")
        scene.kernel.receive(
            InboundMessage(
                bytes: SIPSerializer.serialize(.response(response)), local: Bench.local, remote: Bench.simple, connection: nil, peer: nil),
            at: scene.now)
        #expect(scene.client.events == ["200 to 5 of 7"])
        scene.pass(.seconds(60))
        #expect(scene.client.events.count == 1)
    }

    @Test("RFC 3261 17.1.2.2: a request without a response is reported to the flow of its ticket as silence")
    func silence() {
        let scene = Scene()
        scene.sendOptions(mark: 6)
        _ = scene.kernel.takeOutput()
        scene.pass(.seconds(60))
        #expect(scene.client.events == ["silence for 6 of 7"])
    }

    @Test(
        "A request whose changes cannot be stored is not sent: the records are read again first, and its flow is called once the store works"
    )
    func failedCommit() {
        let store = MemoryStore()
        let scene = Scene(store: store)
        store.failure = StoreFailure("disk full")
        scene.kernel.receive(.late(.zero), at: scene.now)
        scene.kernel.keep(.bridge(SIPURI(host: "example.org").aorKey))
        scene.sendOptions(mark: 8)
        #expect(scene.kernel.takeOutput().isEmpty)
        #expect(scene.client.events == ["reload of 1", "not sent: 8 of 7"])
        store.failure = nil
        scene.client.events = []
        scene.pass(.seconds(5))
        #expect(scene.client.events.starts(with: ["store works"]))
        scene.sendOptions(mark: 9)
        #expect(scene.kernel.takeOutput().count == 1)
    }
}
