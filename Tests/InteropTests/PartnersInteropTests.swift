import Foundation
import GatewayTesting
import SIPCore
import ScriptedPeers
import Testing

extension RealSockets {
    /// Three companies that do not trust each other, one border between them, and an attacker.
    ///
    ///     bob@contoso.com   --- isthmus of contoso.com  --- mutual TLS ---+
    ///     dana@fabrikam.com --- isthmus of fabrikam.com --- mutual TLS ---+--- the border's isthmus
    ///     alice@example.org --- Kamailio --------------- mutual TLS ------+
    ///     carol@example.org --- UDP, from an address of that company -----+
    ///     an attacker       --- OpenSSL, over TLS -------------------------+
    @Suite(.enabled(if: PeerPrograms.areReady(PeerPrograms.kamailio, PeerPrograms.sipp), "peers absent"))
    struct PartnersInteropTests {
        private static let (alice, bob, fay) = ("sip:alice@example.org", "sip:bob@contoso.com", "sip:fay@fabrikam.com")

        @Test("RFC 5922 7: presence flows between two enterprises and Kamailio over one border, and nobody gets in as one of them")
        func unauthorizedPeers() async throws {
            let world = try await World("partners")
            try await world.show(world.bob, 3_500)
            try await world.show(world.fay, 3_500)
            let publisher = SIPpPublisher(presentity: Self.alice, port: world.kamailio.port, transport: "udp", scratch: world.scratch)
            try await publisher.publish(.open)
            try await world.watch()
            try await world.show(world.bob, 6_500)
            try await world.show(world.fay, 15_500)
            try await publisher.publish(.busy)
            #expect(
                try await world.see {
                    world.danaOfBob.presence?.availability == 6_500 && world.danaOfAlice.presence?.availability == 6_500
                        && world.ullaOfFay.presence?.availability == 15_500 && world.carolOfBob.presence?.activities == ["busy"]
                }, "\(world.account)")

            let before = try await world.sight()
            // A hostile partner: its certificate is valid, but it uses the names of others.
            let known = try #require(world.overheardCallID, "\(world.border.log.suffix(3_000))")
            let bad = try SecureLine(
                to: world.border.securePort, as: "fabrikam", of: world.certificates,
                saying: [
                    Words.subscribe(from: "sip:eve@contoso.com", to: Self.alice),
                    Words.subscribe(from: "sip:eve@example.org", to: Self.bob),
                    Words.notify(from: Self.bob, callID: known), Words.notify(from: "sip:eve@fabrikam.com", callID: known),
                    Words.publish(of: Self.alice), Words.publish(of: Self.bob),
                ].joined(), named: "bad-partner", in: world.scratch)
            #expect(await eventually(within: 20) { bad.statuses.count >= 6 || bad.isOver }, "\(bad.text.suffix(2_000))")
            // Responses of different event loops have no order.
            #expect(bad.statuses.sorted() == [403, 403, 403, 403, 403, 481], "\(bad.text.suffix(3_000))")
            let unknown = bad.text.components(separatedBy: "SIP/2.0 ").filter { $0.hasPrefix("481") }
            #expect(unknown.allSatisfy { $0.contains("sip:eve@fabrikam.com") && $0.contains("NOTIFY") }, "\(bad.text.suffix(3_000))")
            // Unauthorized peers: a certificate of the same authority for another name, no certificate, and an unknown root.
            for (name, kind) in [("wrong-name", "wrong-name"), (nil, "no-certificate"), ("foreign", "unknown-root")] {
                let stranger = try SecureLine(
                    to: world.border.securePort, as: name, of: world.certificates,
                    saying: Words.subscribe(from: "sip:eve@contoso.com", to: Self.alice), named: "stranger-\(kind)", in: world.scratch)
                #expect(await eventually(within: 20) { world.border.log.contains("kind=\(kind)") && stranger.isOver }, "\(kind)")
                #expect(stranger.statuses.isEmpty, "\(stranger.text.suffix(1_000))")
                await stranger.stop()
            }
            let plain = try LoopbackSocket(.stream, port: world.border.port)
            plain.send(Array(Words.subscribe(from: "sip:eve@contoso.com", to: Self.alice).utf8))
            #expect(plain.receive(until: "\r\n\r\n").hasPrefix("SIP/2.0 403"))
            #expect(try await world.sight() == before, "\(world.account)")
            let log = world.border.log
            for claim in ["may not speak for contoso.com", "may not speak for example.org"] { #expect(log.contains(claim), "\(claim)") }
            #expect(
                log.contains("fabrikam.com, sip.fabrikam.com") && log.contains("(other.example.org)"),
                "\(log.split(separator: "\n").filter { $0.contains("may not speak") || $0.contains("TLS handshake failed") }.joined(separator: "\n"))"
            )

            // The attacked partner continues undisturbed.
            try await world.show(world.bob, 3_500)
            #expect(
                try await world.see {
                    world.danaOfBob.presence?.availability == 3_500 && world.carolOfBob.presence?.activities.isEmpty == true
                }, "\(world.account)")
            await bad.stop()
            try await world.finish()
        }

        @Test("RFC 5922 7: certificates of three companies change under a steady stream of changes; the last of each arrives, in order")
        func renewal() async throws {
            let world = try await World("renewal")
            for publisher in [world.bob, world.fay] { try await world.show(publisher, 3_500) }
            try await world.watch(withAlice: false)
            let contoso = try await world.certificateShown(by: world.contoso)
            for step in 1...30 {
                switch step {
                case 8:
                    try world.certificates.replace("contoso", by: "renewed")
                    for gateway in world.gateways { gateway.reload() }
                case 16, 24: for gateway in world.gateways { gateway.reload() }
                default: break
                }
                for publisher in [world.bob, world.fay] { try await world.show(publisher, 3_500 + step) }
            }
            #expect(
                try await world.see {
                    world.danaOfBob.presence?.availability == 3_530 && world.ullaOfFay.presence?.availability == 3_530
                }, "\(world.account)")
            for watcher in [world.danaOfBob, world.ullaOfFay] {
                let seen = try await world.stage.look { watcher.notifications.compactMap { $0.presence?.availability } }
                #expect(seen == seen.sorted() && Set(seen).count == seen.count, "\(seen)")
            }
            #expect(await eventually(within: 10) { world.gateways.allSatisfy { $0.log.contains("configuration reloaded") } })
            #expect(try await world.certificateShown(by: world.contoso) != contoso)
            for gateway in world.gateways { #expect(!gateway.log.contains("TLS handshake failed"), "\(gateway.log.suffix(2_000))") }
            try await world.finish()
        }
    }
}

/// Processes of the three companies and the border, and their users.
private final class World {
    let scratch: ScratchDirectory
    private let folders: [ScratchDirectory]
    let certificates: PartnerCertificates
    let kamailio: Kamailio
    let (border, contoso, fabrikam): (IsthmusProgram, IsthmusProgram, IsthmusProgram)
    let stage = LoopbackStage(seed: 51)
    let (bob, fay): (CategoryPublisher, CategoryPublisher)
    let (danaOfBob, danaOfAlice, ullaOfFay): (EnhancedWatcher, EnhancedWatcher, EnhancedWatcher)
    let carolOfBob: SimpleWatcher

    init(_ name: String) async throws {
        scratch = try ScratchDirectory(name)
        folders = try ["border", "contoso", "fabrikam"].map { try ScratchDirectory("\(name)-\($0)") }
        certificates = try await PartnerCertificates(in: scratch)
        kamailio = try await Kamailio(
            in: scratch, transport: "tls", certificate: (certificates.certificate("example-org"), certificates.roots))
        let ports = try (0..<3).map { _ in try Loopback.freePort() }
        border = try await IsthmusProgram(
            in: folders[0],
            domains: [
                "contoso.com: { side: enterprise, route: \"tls:127.0.0.1:\(ports[1])\", certificate-names: [ sip.contoso.com ] }",
                "fabrikam.com: { side: enterprise, route: \"tls:127.0.0.1:\(ports[2])\", certificate-names: [ sip.fabrikam.com ] }",
                "example.org: { side: simple, route: \"tls:127.0.0.1:\(kamailio.securePort)\", peers: [ 127.0.0.5 ] }",
            ], node: "edge.example.net", secure: true, securePort: ports[0], settings: [certificates.settings("example")])
        var homes: [IsthmusProgram] = []
        for (place, (own, other)) in [("contoso", "fabrikam"), ("fabrikam", "contoso")].enumerated() {
            let route = "side: enterprise, route: \"tls:127.0.0.1:\(ports[0])\", certificate-names: [ sip.example.net ]"
            homes.append(
                try await IsthmusProgram(
                    in: folders[place + 1],
                    domains: [
                        "\(own).com: { side: enterprise, hosted: true, peers: [ 127.0.0.1 ] }", "\(other).com: { \(route) }",
                        "example.org: { \(route) }",
                    ], node: "edge.\(own).com", secure: true, securePort: ports[place + 1], settings: [certificates.settings(own)]))
        }
        (contoso, fabrikam) = (homes[0], homes[1])

        func publisher(_ presentity: String, _ gateway: IsthmusProgram) throws -> CategoryPublisher {
            CategoryPublisher(
                name: presentity, presentity: presentity, address: TransportAddress(.tcp, "127.0.0.1", try Loopback.freePort()),
                nextHop: TransportAddress(.tcp, "127.0.0.1", gateway.port), seed: 51)
        }
        func watcher(_ user: String, of presentity: String, _ gateway: IsthmusProgram, _ seed: UInt64) throws -> EnhancedWatcher {
            let watcher = EnhancedWatcher(
                name: user, watcher: user, presentity: presentity, address: TransportAddress(.tcp, "127.0.0.1", try Loopback.freePort()),
                nextHop: TransportAddress(.tcp, "127.0.0.1", gateway.port), seed: seed)
            watcher.form = .categories(["state", "note"])
            return watcher
        }
        bob = try publisher("sip:bob@contoso.com", contoso)
        fay = try publisher("sip:fay@fabrikam.com", fabrikam)
        danaOfBob = try watcher("sip:dana@fabrikam.com", of: bob.presentity, fabrikam, 52)
        danaOfAlice = try watcher("sip:dana@fabrikam.com", of: "sip:alice@example.org", fabrikam, 53)
        ullaOfFay = try watcher("sip:ulla@contoso.com", of: fay.presentity, contoso, 54)
        carolOfBob = SimpleWatcher(
            name: "carol", watcher: "sip:carol@example.org", presentity: bob.presentity,
            address: TransportAddress(.udp, "127.0.0.5", try Loopback.freePort()),
            nextHop: TransportAddress(.udp, "127.0.0.1", border.port),
            seed: 55)
        for peer in [bob, fay, danaOfBob, danaOfAlice, ullaOfFay, carolOfBob] as [SIPPeer] {
            try await stage.attach(peer, name: peer.name, at: peer.address)
        }
    }

    var gateways: [IsthmusProgram] { [border, contoso, fabrikam] }
    var account: String { stage.account + gateways.map { "\n--- \($0.log.suffix(2_500))" }.joined() }

    /// Publishes an availability and waits for the response.
    func show(_ publisher: CategoryPublisher, _ availability: Int) async throws {
        let state =
            "<state xmlns=\"http://schemas.microsoft.com/2006/09/sip/state\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
            + "xsi:type=\"aggregateState\"><availability>\(availability)</availability></state>"
        try await stage.act { now in
            publisher.publish([0, 100, 200, 300, 400].map { .init("state", instance: 1, container: $0, body: state) }, at: now)
        }
        let isTaken = try await see { publisher.awaited == 0 && publisher.lastAnswer?.status == .ok }
        if !isTaken { throw PeerError(description: "\(publisher.name) could not publish \(availability): \(account)") }
    }

    /// Starts each watcher, and waits until all see presence.
    func watch(withAlice: Bool = true) async throws {
        let watchers = [danaOfBob, ullaOfFay, carolOfBob] + (withAlice ? [danaOfAlice] : []) as [ScriptedWatcher]
        try await stage.act { now in for watcher in watchers { watcher.subscribe(at: now) } }
        let sees = try await see { watchers.allSatisfy { $0.phase == .live && $0.presence != nil } }
        if !sees { throw PeerError(description: "not everybody is seen: \(watchers.map { "\($0.name) \($0.phase)" }) \(account)") }
    }

    func see(_ condition: () -> Bool) async throws -> Bool { try await stage.wait(atMost: .seconds(20), until: condition) }

    /// Everything that the users could notice.
    func sight() async throws -> [String] {
        try await stage.look {
            [danaOfBob, danaOfAlice, ullaOfFay, carolOfBob].map {
                "\($0.name) \($0.phase) \($0.notifications.count) \(($0 as ScriptedWatcher).presence.map { "\($0)" } ?? "")"
            } + [bob, fay].map { "\($0.name) \($0.requests.count)" }
        }
    }

    /// Call-ID of an upstream subscription of the border, as read from its log.
    var overheardCallID: String? {
        border.log.split(separator: "\n").last { $0.contains("subscribing upstream") }
            .flatMap { line in line.split(separator: " ").first { $0.hasPrefix("call-id=") }.map { String($0.dropFirst(8)) } }
    }

    /// Certificate that a new connection receives, in PEM.
    func certificateShown(by gateway: IsthmusProgram) async throws -> String {
        let line = try SecureLine(
            to: gateway.securePort, as: "example", of: certificates, saying: "", named: "look-\(UUID().uuidString.prefix(8))", in: scratch)
        let marks = ("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----")
        guard await eventually(within: 10, { line.text.contains(marks.1) }), let start = line.text.range(of: marks.0),
            let end = line.text.range(of: marks.1)
        else { throw PeerError(description: "no certificate is shown: \(line.text)") }
        let shown = String(line.text[start.upperBound..<end.lowerBound])
        await line.stop()
        return shown
    }

    func finish() async throws {
        await stage.finish()
        for gateway in gateways { #expect(await gateway.stop() == 0, "\(gateway.log.suffix(2_000))") }
        await kamailio.stop()
        for folder in folders { folder.remove() }
        scratch.remove()
    }
}

/// Forged requests.
private enum Words {
    private static func request(
        _ method: String, _ target: String, from: String, to: String, toTag: String = "", callID: String, _ more: String, body: String = ""
    ) -> String {
        let mark = UUID().uuidString.prefix(8)
        return "\(method) \(target) SIP/2.0\r\nVia: SIP/2.0/TLS 127.0.0.1:5061;branch=z9hG4bK\(mark)\r\nMax-Forwards: 70\r\n"
            + "From: <\(from)>;tag=\(mark)\r\nTo: <\(to)>\(toTag)\r\nCall-ID: \(callID)\r\nCSeq: 77 \(method)\r\n"
            + "Contact: <sip:127.0.0.1:5061;transport=tls>\r\nEvent: presence\r\n\(more)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    static func subscribe(from: String, to: String) -> String {
        request("SUBSCRIBE", to, from: from, to: to, callID: UUID().uuidString, "Expires: 600\r\nAccept: application/pidf+xml\r\n")
    }

    static func notify(from: String, callID: String) -> String {
        request(
            "NOTIFY", "sip:127.0.0.1", from: from, to: "sip:carol@example.org", toTag: ";tag=guess", callID: callID,
            "Subscription-State: terminated;reason=noresource\r\n")
    }

    static func publish(of presentity: String) -> String {
        let document = PublishedState.closed.pidf(of: presentity)
        return request(
            "PUBLISH", presentity, from: presentity, to: presentity, callID: UUID().uuidString,
            "Expires: 600\r\nContent-Type: application/pidf+xml\r\n", body: document)
    }
}
