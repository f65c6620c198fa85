import FederationRouting
import GatewayTesting
import PresenceGateway
import SIPCore
import ScriptedPeers
import Testing

/// Issue by issue what somebody else could try; each is refused, and none is visible to the victim.
@Suite struct SpoofingTests {
    @Test("before anybody tries, everybody sees what he should") func honest() throws {
        let border = try BorderWorld()
        #expect(border.carol.presence?.basic == "open")
        #expect(border.source.entityTag != nil)
        let before = border.sight
        try border.says(border.mallory, border.subscribe("sip:mallory@example.com", to: BorderWorld.bob, by: border.mallory))
        #expect(border.mallory.statuses.first == 200)
        #expect(border.sight.subscriptions == before.subscriptions + 1, "a partner like any other")
        #expect(border.gateway.counters.unauthorizedPeersRefused == 0)
    }

    @Test(
        "a From of another domain is 403 with 1002 for the enterprise, and costs neither a transaction nor a word to anybody",
        arguments: ["sip:eve@example.org", "sip:erin@contoso.com", "sip:dave@hosted.example.net", "sip:carol@example.org"])
    func from(watcher: String) throws {
        let border = try BorderWorld()
        try border.network.run(for: .seconds(60))
        let before = border.sight
        for unauthorizedPeer in [border.mallory, border.nobody] {
            let transactions = border.gateway.tableSizes["serverTransactions"]
            try border.says(unauthorizedPeer, border.subscribe(watcher, to: BorderWorld.bob, by: unauthorizedPeer))
            #expect(unauthorizedPeer.statuses == [403])
            #expect(border.gateway.tableSizes["serverTransactions"] == transactions)
            guard case .response(let response)? = unauthorizedPeer.received.last else { continue }
            // A datagram from an unknown host is answered with no more than the status.
            let isExplained = watcher.hasSuffix("contoso.com") && unauthorizedPeer === border.mallory
            #expect((response.headers.msDiagnostics?.errorID == 1_002) == isExplained)
        }
        #expect(border.sight == before)
        #expect(border.gateway.counters.unauthorizedPeersRefused == 2)
        #expect(border.gateway.journal(ofCallID: "evil1").first?.status == 403)
    }

    @Test("copies of a request that was taken are answered as before; nobody else's copies are")
    func copies() throws {
        let border = try BorderWorld()
        let request = try #require(border.overheardRequest("SUBSCRIBE", from: "carol", to: "gateway"))
        let before = border.sight
        border.mallory.say(request)
        try border.network.run(for: .seconds(2))
        // The branch and the number are those of a request that was answered: the answer goes where it went, to carol.
        #expect(border.mallory.received.isEmpty || border.mallory.statuses == [403])
        #expect(border.sight.notifications == before.notifications && border.sight.dialogs == before.dialogs)
    }

    @Test("forged P-Asserted-Identity and trust headers of a partner are removed: he is who his From says")
    func assertedIdentity() throws {
        let border = try BorderWorld()
        let forged: [(SIPHeaderName, String)] = [
            (.pAssertedIdentity, "<sip:carol@example.org>"), (.msSourceNetwork, "federation"),
            (.msEdgeProxyMessageTrust, "ms-source-type=InternetUser;ms-ep-fqdn=edge1.example.net;ms-source-verified-user=verified"),
            ("ms-asserted-verification-level", "ms-source-verified-user=verified"),
        ]
        try border.says(border.mallory, border.subscribe("sip:mallory@example.com", to: BorderWorld.bob, by: border.mallory, extra: forged))
        #expect(border.mallory.statuses.first == 200)
        let far = try #require(border.overheardRequest("SUBSCRIBE", from: "gateway", to: "server"))
        #expect(far.headers.from?.uri.description == "sip:mallory@example.com")
        for name in SIPHeaders.trustHeaderNames { #expect(!far.headers.contains(name), "\(name)") }
        #expect(border.carol.presence?.basic == "open" && border.gateway.counts.watcherDialogs == 2)
    }

    @Test("a forged Route is followed by nobody, and a Record-Route that leads to a victim is 403")
    func routes() throws {
        let border = try BorderWorld()
        let before = border.sight
        let victim = "<sip:192.0.2.20:5061;transport=tls;lr>"
        try border.says(
            border.mallory,
            border.subscribe("sip:mallory@example.com", to: BorderWorld.bob, by: border.mallory, extra: [(.recordRoute, victim)])
        )
        #expect(border.mallory.statuses == [403])
        #expect(border.sight == before)
        for name in ["victim.example.org", "edge1.example.net"] {
            let route = "<sip:\(name);lr>"
            try border.says(
                border.mallory,
                border.subscribe("sip:mallory@example.com", to: BorderWorld.bob, by: border.mallory, extra: [(.recordRoute, route)]))
        }
        #expect(border.mallory.statuses == [403, 403, 403])
        #expect(border.sight == before)
        try border.says(
            border.mallory, border.subscribe("sip:mallory@example.com", to: BorderWorld.bob, by: border.mallory, extra: [(.route, victim)]))
        #expect(border.mallory.statuses.last == 200)
        #expect(border.sight.atCarol == before.atCarol && border.sight.notifications == before.notifications)
    }

    @Test("a NOTIFY of somebody else's dialog, replayed or made up with the right tags, is refused and shown to nobody")
    func notify() throws {
        let border = try BorderWorld()
        var first = border.overheardRequest("NOTIFY", from: "server", to: "gateway")
        if first == nil { first = try upstreamNotify(border) }
        let heard = try #require(first)
        let before = border.sight
        var closed = heard
        closed.headers.set(.subscriptionState, "terminated;reason=noresource")
        // As it was, with a number of its own, and in every name that she may and may not use.
        for unauthorizedPeer in [border.mallory, border.nobody] {
            unauthorizedPeer.say(heard)
            unauthorizedPeer.say(border.renewed(heard, by: unauthorizedPeer))
            unauthorizedPeer.say(border.renewed(closed, by: unauthorizedPeer))
        }
        var own = closed
        own.headers.from = NameAddr(
            try #require(SIPURI("sip:bob@example.com")), parameters: SIPParameters([.init("tag", heard.headers.fromTag ?? "")]))
        border.mallory.say(border.renewed(own, by: border.mallory))
        var guess = own
        guess.headers.callID = "never-heard-of"
        border.mallory.say(border.renewed(guess, by: border.mallory))
        try border.network.run(for: .seconds(5))
        #expect(border.mallory.statuses == [403, 403, 403, 481, 481])
        #expect(border.nobody.statuses == [403, 403, 403])
        #expect(border.sight == before)
        #expect(Self.shape(border.mallory.received[3]) == Self.shape(border.mallory.received[4]), "nothing tells a dialog from none")
        // Bob's own server is heard all the same.
        border.server.set(BorderWorld.bob, EnhancedState(6_500), at: border.network.now)
        try border.network.run(for: .seconds(2))
        #expect(border.carol.presence?.activities == ["busy"])
    }

    /// Where the first state came in the 200, the next change brings the NOTIFY.
    private func upstreamNotify(_ border: BorderWorld) throws -> SIPRequest? {
        border.server.set(BorderWorld.bob, EnhancedState(3_600), at: border.network.now)
        try border.network.run(for: .seconds(10))
        return border.overheardRequest("NOTIFY", from: "server", to: "gateway")
    }

    /// An answer without what differs between any two.
    private static func shape(_ message: SIPMessage) -> [String] {
        guard case .response(let response) = message else { return [] }
        return ["\(response.status.rawValue)", response.headers.first(.warning) ?? "", "\(response.headers.msDiagnostics?.errorID ?? 0)"]
    }

    @Test("nobody refreshes or ends somebody else's subscription, whatever of it he knows")
    func subscription() throws {
        let border = try BorderWorld()
        let heard = try #require(border.overheardRequest("NOTIFY", from: "gateway", to: "carol"))
        let before = border.sight
        var end = SIPRequest(.subscribe, requestURI: heard.headers.contact?.uri.description ?? "")
        for (name, value) in [
            (SIPHeaderName.maxForwards, "70"), (.from, heard.headers.first(.to) ?? ""), (.to, heard.headers.first(.from) ?? ""),
            (.callID, heard.headers.callID ?? ""), (.contact, "<sip:192.0.2.66:5061;transport=tls>"), (.event, "presence"), (.expires, "0"),
        ] { end.headers.append(name, value) }
        for unauthorizedPeer in [border.mallory, border.nobody] { unauthorizedPeer.say(border.renewed(end, by: unauthorizedPeer)) }
        var own = end
        own.headers.from = NameAddr(
            try #require(SIPURI("sip:mallory@example.com")), parameters: SIPParameters([.init("tag", heard.headers.toTag ?? "")]))
        border.mallory.say(border.renewed(own, by: border.mallory))
        var guess = own
        guess.headers.to = NameAddr(try #require(SIPURI(BorderWorld.bob)), parameters: SIPParameters([.init("tag", "nosuchtag")]))
        border.mallory.say(border.renewed(guess, by: border.mallory))
        try border.network.run(for: .seconds(5))
        #expect(border.mallory.statuses == [403, 481, 481])
        #expect(border.nobody.statuses == [403])
        #expect(Self.shape(border.mallory.received[1]) == Self.shape(border.mallory.received[2]))
        #expect(border.sight == before)
    }

    @Test("a user of the same domain does not get at his neighbour's dialog either")
    func neighbour() throws {
        let border = try BorderWorld()
        let heard = try #require(border.overheardRequest("NOTIFY", from: "gateway", to: "carol"))
        // Carol's own server, which may speak for both.
        let other = UnauthorizedPeer(address: TransportAddress(.tls, "192.0.2.21", 5061), target: border.mallory.target)
        border.network.attach(other, name: "other", at: [other.address], proving: BorderWorld.certificate("example.org"))
        var end = SIPRequest(.subscribe, requestURI: heard.headers.contact?.uri.description ?? "")
        for (name, value) in [
            (SIPHeaderName.maxForwards, "70"), (.from, "<sip:eve@example.org>;tag=\(heard.headers.toTag ?? "")"),
            (.to, heard.headers.first(.from) ?? ""), (.callID, heard.headers.callID ?? ""),
            (.contact, "<sip:192.0.2.21:5061;transport=tls>"),
            (.event, "presence"), (.expires, "0"),
        ] { end.headers.append(name, value) }
        let before = border.sight
        try border.says(other, border.renewed(end, by: other))
        #expect(other.statuses == [481])
        #expect(border.sight == before)
    }

    @Test("a PUBLISH with somebody else's entity-tag is refused whether the tag is right, made up or used before")
    func publication() throws {
        let border = try BorderWorld()
        let first = try #require(border.source.entityTag)
        border.source.publish(SimpleDocuments.pidf(of: BorderWorld.dave, "open"), at: border.network.now)
        try border.network.run(for: .seconds(2))
        let tag = try #require(border.source.entityTag)
        let heard = try #require(border.overheardRequest("PUBLISH", from: "source", to: "gateway"))
        let before = border.sight
        func publish(_ tag: String, as user: String) throws -> SIPRequest {
            var request = heard
            request.headers.set(.sipIfMatch, tag)
            request.headers.set(.expires, "0")
            request.headers.remove(.contentType)
            request.body = []
            request.headers.from = NameAddr(try #require(SIPURI(user)), parameters: SIPParameters([.init("tag", "evil")]))
            return request
        }
        for unauthorizedPeer in [border.mallory, border.nobody] {
            for tag in [tag, first, "made-up"] {
                unauthorizedPeer.say(border.renewed(try publish(tag, as: BorderWorld.dave), by: unauthorizedPeer))
            }
            unauthorizedPeer.say(border.renewed(heard, by: unauthorizedPeer))
        }
        for tag in [tag, "made-up"] {
            border.mallory.say(border.renewed(try publish(tag, as: "sip:mallory@example.com"), by: border.mallory))
        }
        try border.network.run(for: .seconds(2))
        #expect(border.nobody.statuses == [403, 403, 403, 403])
        #expect(border.mallory.statuses == [403, 403, 403, 403, 403, 403])
        #expect(Self.shape(border.mallory.received[4]) == Self.shape(border.mallory.received[5]))
        #expect(border.sight == before)
        // Even where dave himself is, a tag counts once (RFC 3903 6).
        let home = UnauthorizedPeer(address: TransportAddress(.udp, "192.0.2.40", 5070), target: border.nobody.target)
        border.network.attach(home, name: "home", at: [home.address])
        home.say(border.renewed(try publish(first, as: BorderWorld.dave), by: home))
        try border.network.run(for: .seconds(2))
        #expect(home.statuses == [412])
        #expect(border.sight == before)
        // And the one that counts was guessed by nobody.
        border.source.refresh(at: border.network.now)
        try border.network.run(for: .seconds(2))
        #expect(border.source.lastAnswer?.status == .ok)
    }

    @Test("tags and entity-tags are too long to be guessed, and thousands of guesses find nothing")
    func guessing() throws {
        let border = try BorderWorld()
        let notify = try #require(border.overheardRequest("NOTIFY", from: "gateway", to: "carol"))
        let subscription = try #require(border.overheardRequest("SUBSCRIBE", from: "gateway", to: "server"))
        for token in [notify.headers.fromTag, subscription.headers.fromTag, subscription.headers.callID, border.source.entityTag] {
            // 26 digits of 5 bits.
            #expect((token?.utf8.count ?? 0) >= 26)
        }
        let before = border.sight
        var tokens = TokenGenerator(key: .seeded(99))
        for _ in 0..<1_000 {
            var guess = border.subscribe("sip:mallory@example.com", to: BorderWorld.bob, by: border.mallory)
            guess.headers.to = NameAddr(try #require(SIPURI(BorderWorld.bob)), parameters: SIPParameters([.init("tag", tokens.tag())]))
            guess.headers.callID = notify.headers.callID
            border.mallory.say(guess)
        }
        try border.network.run(for: .seconds(2))
        #expect(border.mallory.statuses.count == 1_000 && Set(border.mallory.statuses) == [481])
        #expect(border.sight == before)
    }

    @Test("a partner's flood beyond its rate is 503 with Retry-After before anything is kept of it, and another partner notices nothing")
    func flood() throws {
        let border = try BorderWorld { configuration in
            configuration.domains["example.com"]?.federation.trust.limits = .init(messagesPerSecond: 20)
        }
        let before = border.sight
        for _ in 0..<5_000 {
            border.mallory.say(border.subscribe("sip:mallory@example.com", to: "sip:no@hosted.example.net", by: border.mallory))
        }
        border.server.set(BorderWorld.bob, EnhancedState(6_500), at: border.network.now)
        try border.network.run(for: .seconds(1))
        #expect(border.carol.presence?.activities == ["busy"])
        #expect(border.mallory.statuses.filter { $0 == 503 }.count == 4_980)
        #expect(border.gateway.counts.watcherDialogs == before.dialogs + 20)
        #expect(border.gateway.counts.transactions < 100)
        let report = border.gateway.partnerReports.first { $0.name == "example.com" }
        #expect(report?.counters.messages == 5_000 && report?.counters.tooMany == 4_980 && report?.watchedURIs == 1)
        guard case .response(let refusal)? = border.mallory.received.last(where: { Self.shape($0).first == "503" }) else { return }
        #expect((refusal.headers.retryAfter?.seconds ?? 0) > 0)
        #expect(border.gateway.partnerReports.first { $0.name == "example.org" }?.counters.tooMany == 0)
    }
}
