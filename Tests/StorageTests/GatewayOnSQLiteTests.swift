import Foundation
import GRDB
import GatewayTesting
import PresenceGateway
import SIPCore
import ScriptedPeers
import Storage
import Testing

@Suite("A gateway on a SQLite file")
struct GatewayOnSQLiteTests {
    @Test("publications that the file has no room for are 503, those before stay, and a restart finds exactly these")
    func fullFile() async throws {
        let scratch = try Scratch()
        var options = SQLiteStore.Options()
        options.maximumBytes = 384 << 10
        let store = try SQLiteStore(path: scratch.path, options: options)
        let stage = SimulatedStage(seed: 3)
        let conversation = try await Conversation(on: stage, store: store)
        var kept: [PIDFPublisher] = []
        var refused: [PIDFPublisher] = []
        for index in 0..<40 {
            let source = try await conversation.pidfPublisher("sip:dave\(index)@hosted.example.net")
            let note = String(repeating: "n", count: 20_000)
            try await conversation.act { source.publish(SimpleDocuments.pidf(of: source.presentity, "open", note: note), at: $0) }
            try await conversation.pass(.seconds(3))
            if source.lastAnswer?.status == .ok { kept.append(source) } else { refused.append(source) }
        }
        #expect(!kept.isEmpty)
        #expect(!refused.isEmpty)
        #expect(refused.allSatisfy { $0.lastAnswer?.status == .serviceUnavailable })
        #expect(conversation.gateway.counts.publications == kept.count)
        let restored = try conversation.crash(on: stage.network, awayFor: .seconds(1))
        #expect(restored.publications == kept.count)
        // What ends makes room.
        for source in kept { try await conversation.act { source.remove(at: $0) } }
        try await conversation.pass(.seconds(3))
        #expect(kept.allSatisfy { $0.lastAnswer?.status == .ok })
        let again = refused[0]
        try await conversation.act { again.publish(SimpleDocuments.pidf(of: again.presentity, "open"), at: $0) }
        try await conversation.pass(.seconds(3))
        #expect(again.lastAnswer?.status == .ok)
    }
}
