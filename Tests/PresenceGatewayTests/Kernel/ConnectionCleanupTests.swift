import SIPCore
import Testing

@testable import PresenceGateway

/// The end of a connection with many dialogs.
@Suite struct ConnectionCleanupTests {
    private static let client = TransportAddress(.tcp, "192.0.2.40", 5060)
    private static let line = ConnectionID(rawValue: 7)

    @Test("MS-SIP 3.5: a connection that takes many dialogs with it holds nobody up; whoever has come back meanwhile stays")
    func manyAtOnce() throws {
        let bench = Bench()
        bench.send(bench.subscribe("dan@example.org", to: "alice@example.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        _ = try bench.takeNotifies(at: Bench.simple)
        var answers: [String: SIPResponse] = [:]
        for number in 0..<600 {
            bench.send(
                bench.categorySubscribe(
                    "user\(number)@fabrikam.com", to: "alice@example.com", extra: "Supported: ms-benotify\r\n", via: Self.client),
                from: Self.client, connection: Self.line)
            let answer = try bench.nextResponse(200, at: Self.client)
            answers[try #require(answer.headers.toTag)] = answer
        }
        bench.clear()
        bench.gateway.receive(.closed(Self.line), at: bench.now)
        #expect(bench.gateway.flows.subscriptions.dialogs.values.count(where: \.isAway) == GatewayKernel.cleanupsPerTurn)
        #expect(bench.gateway.tableSizes["connectionCleanup"] == 600 - GatewayKernel.cleanupsPerTurn)

        // What comes in between is done in between.
        bench.sendPublish("alice@example.com", Bench.pidf("alice@example.com", activity: "busy"))
        #expect(try bench.takeNotifies(at: Bench.simple).count == 1)
        let present = answers.keys.filter { tag in bench.gateway.flows.subscriptions.dialogs[tag].map { !$0.isAway } ?? false }
        let left = try #require(present.max())
        let back = TransportAddress(.tcp, "192.0.2.40", 5062)
        bench.send(
            bench.inDialog(try #require(answers[left]), cSeq: 2, expires: 600, via: back), from: back, connection: ConnectionID(rawValue: 8)
        )
        _ = try bench.nextResponse(200, at: back)

        bench.pass(.milliseconds(200))
        #expect(bench.gateway.flows.subscriptions.dialogs.values.count(where: \.isAway) == 599)
        bench.pass(.seconds(31))
        #expect(bench.gateway.counts.watcherDialogs == 2)
        #expect(bench.gateway.flows.subscriptions.dialogs[left] != nil)
        #expect(bench.gateway.tableSizes["connectionCleanup"] == 0)
        bench.gateway.receive(.closed(ConnectionID(rawValue: 8)), at: bench.now)
        bench.pass(.seconds(31))
        #expect(bench.gateway.counts.watcherDialogs == 1)
    }

    @Test(
        "RFC 6665 4.2.2: NOTIFYs without an answer that end with their connection are sent again part by part, and end their dialogs after the patience"
    )
    func requests() throws {
        let bench = Bench()
        let carol = TransportAddress(.tcp, "192.0.2.41", 5060)
        for number in 0..<300 {
            bench.send(
                bench.subscribe("user\(number)@example.org", to: "alice@example.com", via: carol), from: carol, connection: Self.line)
        }
        #expect(bench.gateway.counts.watcherDialogs == 300)
        bench.gateway.receive(.closed(Self.line), at: bench.now)
        #expect(bench.gateway.tableSizes["connectionCleanup"] == 300 - GatewayKernel.cleanupsPerTurn)
        bench.pass(.milliseconds(100))
        #expect(bench.gateway.tableSizes["connectionCleanup"] == 0)
        // Each is sent again, over a new connection, until the patience is over.
        #expect(bench.gateway.counts.watcherDialogs == 300)
        bench.pass(.seconds(720))
        #expect(bench.gateway.counts.watcherDialogs == 0)
        #expect(bench.gateway.tableSizes["clientTransactions"] == 0)
        #expect(bench.gateway.tableSizes["pendingRequests"] == 0)
    }
}
