import PresenceGateway
import SIPCore
import Testing

@Suite struct ShardRouterTests {
    let bench = Bench()

    @Test("initial requests go by the presentity, whatever its spelling")
    func byPresentity() {
        let router = ShardRouter(shards: 8)
        let one = router.shard(of: Array(bench.subscribe("a@example.org", to: "bob@contoso.com", via: Bench.simple).utf8))
        let other = router.shard(of: Array(bench.subscribe("b@example.org", to: "bob@CONTOSO.com;x=1", via: Bench.enterprise).utf8))
        #expect(one == other)
        #expect(Set((0..<200).map { router.shard(ofKey: "sip:u\($0)@example.org") }).count == 8)
        #expect(router.shard(of: Array("garbage".utf8)) == 0)
    }

    @Test("MS-PRES 3.4.5.1.2 a poll goes by the presentity if it is of a hosted enterprise domain, other subscriptions by the watcher")
    func polls() {
        let router = ShardRouter(shards: 1_000, homes: ["fabrikam.com"])
        func shard(to presentity: String, expires: Int, _ replace: (String, String) = ("", "")) -> Int {
            let text = bench.categorySubscribe("ann@fabrikam.com", to: presentity, expires: expires)
            return router.shard(of: Array((replace.0.isEmpty ? text : text.replacing(replace.0, with: replace.1)).utf8))
        }
        let (watcher, presentity) = (router.shard(ofKey: "sip:ann@fabrikam.com"), router.shard(ofKey: "sip:bob@fabrikam.com"))
        #expect(watcher != presentity)
        #expect(shard(to: "bob@fabrikam.com", expires: 0) == presentity)
        #expect(shard(to: "bob@fabrikam.com", expires: 600) == watcher)
        #expect(shard(to: "bob@example.org", expires: 0) == watcher, "its upstream subscription is with the dialogs of the watcher")
        let opaque = "opaque=user:epid:" + String(repeating: "A", count: 22) + "AA;gruu"
        let contact =
            bench.categorySubscribe("ann@fabrikam.com", to: "bob@fabrikam.com", expires: 0).split(separator: "\r\n")
            .first { $0.hasPrefix("Contact:") }.map(String.init) ?? ""
        #expect(
            shard(to: "bob@fabrikam.com", expires: 0, (contact, "Contact: <sip:ann@fabrikam.com;\(opaque)>")) == watcher,
            "the registration of the watcher has the address")
        let batch = bench.batch("ann@fabrikam.com", .subscribe("bob@fabrikam.com"), expires: 0)
        #expect(router.shard(of: Array(batch.utf8)) == watcher)
    }

    @Test("what answers a shard's messages comes back to that shard")
    func bySelf() throws {
        let router = ShardRouter(shards: 40)
        for shard in [0, 7, 39] {
            let gateway = Gateway(configuration: Bench.configuration(), shard: shard, shards: 40, key: .seeded(1))
            let text = bench.subscribe("ann@example.org", to: "bob@contoso.com", via: Bench.simple)
            gateway.receive(
                InboundMessage(bytes: Array(text.utf8), local: Bench.local, remote: Bench.simple), at: Instant(secondsSince1970: 1_000_000))
            var checked = 0
            for outbound in gateway.takeOutput() {
                guard case .success(let message) = SIPParser.parse(outbound.bytes) else { continue }
                switch message {
                case .response(let response):
                    let refresh = bench.inDialog(response, cSeq: 2, expires: 60, via: Bench.simple)
                    #expect(router.shard(of: Array(refresh.utf8)) == shard)
                case .request(let request):
                    #expect(router.shard(of: SIPSerializer.serialize(SIPResponse(to: request, status: .ok, toTag: "x"))) == shard)
                }
                checked += 1
            }
            #expect(checked == 2)
        }
    }

    @Test("with several shards a request is parsed for its shard, and a response is left to it; with one shard neither is parsed")
    func parses() throws {
        let request = bench.subscribe("ann@example.org", to: "bob@contoso.com", via: Bench.simple)
        guard case .request(let subscribe) = try SIPParser.parse(Array(request.utf8)).get() else {
            Issue.record("not a request")
            return
        }
        let answer = SIPSerializer.serialize(SIPResponse(to: subscribe, status: .ok, toTag: "x"))
        for (shards, isParsed) in [(1, false), (8, true)] {
            var inbound = InboundMessage(bytes: Array(request.utf8), local: Bench.local, remote: Bench.simple)
            _ = ShardRouter(shards: shards).shard(of: &inbound)
            #expect(inbound.isParsed == isParsed)
            var response = InboundMessage(bytes: answer, local: Bench.local, remote: Bench.simple)
            _ = ShardRouter(shards: shards).shard(of: &response)
            #expect(!response.isParsed)
        }
    }

    @Test(
        "an unreadable request is refused in the same words, whether its shard was selected or not",
        arguments: [
            ("CSeq: 1", "CSeq: one"), ("Call-ID", "X-Call-ID"), ("Max-Forwards: 70", "Max-Forwards: x"), ("Content-Length: 0", "l: x"),
        ])
    func unreadable(field: String, flaw: String) throws {
        let text = bench.subscribe("ann@example.org", to: "bob@contoso.com", via: Bench.simple)
        let broken = text.replacing(field, with: flaw)
        #expect(broken != text)
        let plain = InboundMessage(bytes: Array(broken.utf8), local: Bench.local, remote: Bench.simple)
        var routed = plain
        #expect(ShardRouter(shards: 8).shard(of: &routed) == 0)
        let answers = [plain, routed].map { message in
            let gateway = Gateway(configuration: Bench.configuration(), shard: 0, shards: 8, key: .seeded(1))
            gateway.receive(message, at: Instant(secondsSince1970: 1_000_000))
            return gateway.takeOutput().map { String(decoding: $0.bytes, as: UTF8.self) }
        }
        #expect(answers[0] == answers[1])
        #expect(answers[0].first?.hasPrefix("SIP/2.0 400") == true)
    }
}

extension ShardRouter {
    /// Shard of a message from `Bench.simple`.
    func shard(of bytes: [UInt8]) -> Int {
        var message = InboundMessage(bytes: bytes, local: Bench.local, remote: Bench.simple)
        return shard(of: &message)
    }
}
