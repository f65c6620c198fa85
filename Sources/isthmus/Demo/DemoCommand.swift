import ArgumentParser
import GatewayService
import Logging
import SIPCore
import SIPTransport
import ScriptedPeers

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Show the main job on this machine: both directions, on real sockets, with every message.",
        discussion: """
            Starts the gateway and four scripted peers on free loopback ports: an enterprise server with bob@contoso.com, a
            SIMPLE presence server with alice@example.org, and a watcher on either side. Ends by itself with 0 when both
            watchers saw what they should.

            EXAMPLES
              isthmus demo
              isthmus demo --brief
            """)

    @Flag(help: "Print the first line of each message only.")
    var brief = false

    static let alice = "sip:alice@example.org"
    static let bob = "sip:bob@contoso.com"

    func run() async throws {
        let transcript = DemoTranscript(isColoured: Terminal.outputIsTerminal, isQuiet: brief)
        let simple = try await DemoParty("presence server of example.org", leg: "SIMPLE leg, UDP", .udp, transcript: transcript) {
            SimplePresenceServer(name: "example.org", address: $0, nextHop: $0, seed: 1)
        }
        let enterprise = try await DemoParty("enterprise pool of contoso.com", leg: "enterprise leg, TCP", .tcp, transcript: transcript) {
            EnhancedServer(name: "contoso.com", address: $0, nextHop: $0, seed: 2)
        }
        let yaml = """
            node:    { name: demo.example.net }
            listen:  [ "udp:127.0.0.1:0", "tcp:127.0.0.1:0" ]
            domains:
              contoso.com: { side: enterprise, route: "\(enterprise.address)", network: sameEnterprise }
              example.org: { side: simple, route: "\(simple.address)" }
              "*":         { refuse: 403 }
            # At once, so that there is something to see; 5 s between two changes unless told otherwise.
            timing:  { notify-spacing-ms: 0 }
            """
        let gateway = try await RunningGateway.start(
            try ConfigurationReader.read(yaml, file: "demo"),
            logger: Logger(label: "isthmus") { _ in StructuredLogHandler(logLevel: .warning, format: .logfmt) })
        transcript.heading("Isthmus with this configuration")
        for line in yaml.split(separator: "\n") { Terminal.write("    \(line)\n") }
        Terminal.write("\n    ready \(gateway.addresses.joined(separator: " "))\n\n")

        let failures = try await showBothFlows(simple, enterprise, gateway, transcript)

        await gateway.stop(drain: .seconds(2))
        await simple.stop()
        await enterprise.stop()
        guard failures.isEmpty else { throw CommandFailure(.unreachable, failures) }
        transcript.heading("Done: both watchers saw what they should")
        Terminal.write(
            "   To run the gateway yourself: .build/debug/isthmus serve --config docs/examples/hosted.yaml (see docs/guide/first-hour.md)\n"
        )
    }

    private func showBothFlows(
        _ simple: DemoParty<SimplePresenceServer>, _ enterprise: DemoParty<EnhancedServer>, _ gateway: RunningGateway,
        _ transcript: DemoTranscript
    ) async throws -> [String] {
        let (alice, bob) = (Self.alice, Self.bob)
        var failures: [String] = []
        guard let tcp = gateway.server.listeners.first(where: { $0.transport == .tcp }),
            let udp = gateway.server.listeners.first(where: { $0.transport == .udp })
        else { return ["the gateway has no listeners"] }

        transcript.heading("1. A Lync-style watcher, \(bob), watches the standard presentity \(alice)")
        try await simple.ask { server, now in
            server.set(alice, SimpleDocuments.pidf(of: alice, "open", note: "At my desk", displayName: "Alice"), at: now)
        }
        let lync = try await DemoParty("Lync-style watcher \(bob)", leg: "enterprise leg, TCP", .tcp, transcript: transcript) {
            EnhancedWatcher(name: "bob", watcher: bob, presentity: alice, address: $0, nextHop: tcp, seed: 3)
        }
        try await lync.ask { watcher, now in watcher.subscribe(at: now) }
        if try await !lync.wait(until: { ($0.presence?.availability ?? 18_000) < 6_000 && $0.presence?.displayName == "Alice" }) {
            failures.append("\(bob) did not see \(alice) available")
        }
        try await Self.remark(lync, transcript, "\(bob) sees \(alice)")

        transcript.heading("   \(alice) answers the telephone: her PIDF changes")
        try await simple.ask { server, now in
            server.set(
                alice,
                SimpleDocuments.pidf(of: alice, "open", activities: ["on-the-phone"], note: "On a call", displayName: "Alice"), at: now)
        }
        if try await !lync.wait(until: { $0.presence?.activityToken == "on-the-phone" }) {
            failures.append("\(bob) did not see \(alice) on the phone")
        }
        try await Self.remark(lync, transcript, "\(bob) sees \(alice)")

        transcript.heading("2. A standard watcher, \(alice), watches the enterprise presentity \(bob)")
        try await enterprise.ask { server, now in
            server.set(bob, EnhancedState(3_500, note: "Back in the office", displayName: "Bob"), at: now)
        }
        let standard = try await DemoParty("standard watcher \(alice)", leg: "SIMPLE leg, UDP", .udp, transcript: transcript) {
            SimpleWatcher(name: "alice", watcher: alice, presentity: bob, address: $0, nextHop: udp, seed: 4)
        }
        try await standard.ask { watcher, now in watcher.subscribe(at: now) }
        if try await !standard.wait(until: { $0.presence?.basic == "open" }) { failures.append("\(alice) did not see \(bob) available") }
        try await Self.remark(standard, transcript, "\(alice) sees \(bob)")

        transcript.heading("   \(bob) is busy: his categories change")
        try await enterprise.ask { server, now in
            server.set(bob, EnhancedState(6_500, note: "In a review", displayName: "Bob"), at: now)
        }
        if try await !standard.wait(until: { $0.presence?.activities.contains("busy") == true }) {
            failures.append("\(alice) did not see \(bob) busy")
        }
        try await Self.remark(standard, transcript, "\(alice) sees \(bob)")

        transcript.heading("3. Both unsubscribe")
        try await lync.ask { watcher, now in watcher.unsubscribe(at: now) }
        try await standard.ask { watcher, now in watcher.unsubscribe(at: now) }
        for (name, isOver) in [
            // The response ends the subscription of an enterprise watcher (MS-SIP 3.4.5.1), a final NOTIFY that of a SIMPLE watcher.
            (bob, try await lync.wait { $0.lastResponse?.headers.subscriptionState?.state == .terminated }),
            (alice, try await standard.wait { if case .ended = $0.phase { true } else { false } }),
        ] where !isOver {
            failures.append("\(name) was not told the end of the subscription")
        }
        if try await !simple.wait(until: { $0.dialogCount == 0 }) { failures.append("example.org still has a subscription") }
        if try await !enterprise.wait(until: { $0.dialogCount == 0 }) { failures.append("contoso.com still has a subscription") }
        for faults in [
            try await lync.ask { peer, _ in peer.faults }, try await standard.ask { peer, _ in peer.faults },
            try await simple.ask { peer, _ in peer.faults }, try await enterprise.ask { peer, _ in peer.faults },
        ] { failures += faults }
        await lync.stop()
        await standard.stop()
        return failures
    }

    private static func remark<Peer: ScriptedWatcher>(_ party: DemoParty<Peer>, _ transcript: DemoTranscript, _ text: String) async throws {
        let seen = try await party.ask { watcher, _ in watcher.presence?.description ?? "nothing" }
        transcript.remark("==> \(text): \(seen)")
    }
}
