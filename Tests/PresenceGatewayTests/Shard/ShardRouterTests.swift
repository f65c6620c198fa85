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
}
