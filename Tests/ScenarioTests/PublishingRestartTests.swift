import GatewayTesting
import PresenceGateway
import SIPCore
import ScriptedPeers
import Testing

/// Relayed publications through the loss of power at moments that the seed decides.
@Suite struct PublishingRestartTests {
    private static func configure(_ configuration: inout GatewayConfiguration) {
        configuration.domains["example.org"]?.publish = true
        configuration.domains["contoso.com"]?.publish = true
    }

    private func note(_ number: Int) -> CategoryPublisher.Publication {
        CategoryPublisher.Publication(
            "note", instance: 4, container: 100, expireType: "static",
            body:
                "<note xmlns=\"http://schemas.microsoft.com/2006/09/sip/note\"><body type=\"personal\" uri=\"\">n=\(number).</body></note>")
    }

    @Test(
        "after any number of crashes and far restarts both domains have the newest of each publication, once, and nothing that ended",
        arguments: [UInt64(1), 2, 3], [TransportProtocol.udp, .tcp])
    func crashes(seed: UInt64, transport: TransportProtocol) async throws {
        let stage = SimulatedStage(seed: seed)
        let network = stage.network
        let conversation = try await Conversation(on: stage, transport: transport, store: MemoryStore(), configure: Self.configure)
        let endpoint = try await conversation.categoryPublisher(Conversation.alice)
        let source = try await conversation.pidfPublisher(Conversation.bob)
        var random = SeededRandom(seed: seed &* 7_919)
        var number = 0

        /// Publishes the same number on both sides until both have answered 200.
        func publishBoth() throws {
            number += 1
            for _ in 0..<20 {
                endpoint.publish([note(number)], at: network.now)
                try network.run(for: .seconds(35))
                if endpoint.lastAnswer?.status == .ok { break }
            }
            for _ in 0..<20 {
                source.publish(SimpleDocuments.pidf(of: Conversation.bob, "open", note: "n=\(number)."), expires: 7_200, at: network.now)
                try network.run(for: .seconds(35))
                if source.lastAnswer?.status == .ok { break }
            }
        }

        try publishBoth()
        for _ in 0..<40 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<4: try publishBoth()
            case 4:
                // While a change is on its way.
                endpoint.publish([note(number)], at: network.now)
                source.refresh(expires: 7_200, at: network.now)
                try network.run(for: .milliseconds(Int.random(in: 0..<80, using: &random)))
                try conversation.crash(on: network, awayFor: .seconds(Int.random(in: 1..<20, using: &random)))
                try network.run(for: .seconds(40))
            case 5:
                try conversation.crash(on: network, awayFor: .seconds(Int.random(in: 1..<200, using: &random)))
            case 6: conversation.simple.compositor.restart()
            default: conversation.enterprise.home.restart()
            }
            try network.run(for: .seconds(Int.random(in: 1..<120, using: &random)))
        }
        try publishBoth()
        // Whatever a crash left without a name lapses, and what was forgotten is refreshed (RFC 3903 4.1).
        for _ in 0..<3 {
            source.refresh(expires: 7_200, at: network.now)
            try network.run(for: .seconds(2_400))
        }
        try publishBoth()
        #expect(conversation.aliceDocuments.count == 1)
        #expect(conversation.aliceDocuments.allSatisfy { $0.contains("n=\(number).") })
        let notes = conversation.bobInstances.filter { $0.category == "note" }
        #expect(Set(notes.map(\.container)) == [200, 300, 400])
        #expect(notes.allSatisfy { $0.body.contains("n=\(number).") })
        #expect(Set(notes.map(\.number)).count == 1)
        #expect(conversation.gateway.counts.publicationBridges == 2)

        source.remove(at: network.now)
        endpoint.publish(
            [CategoryPublisher.Publication("note", instance: 4, container: 100, body: note(0).body)], at: network.now)
        try network.run(for: .seconds(400))
        #expect(conversation.aliceDocuments.isEmpty)
        #expect(conversation.bobInstances.isEmpty)
        #expect(conversation.gateway.counts == GatewayCounts())
        #expect(endpoint.faults + source.faults + conversation.simple.faults + conversation.enterprise.faults == [])
    }
}
