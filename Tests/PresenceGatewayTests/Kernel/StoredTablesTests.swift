import SIPCore
import SIPEvents
import Testing

@testable import PresenceGateway

@Suite("What a restart makes of the store is what was there")
struct StoredTablesTests {
    let words = HostedPresentityTests()

    /// A few numbers that look random and are not.
    struct Dice {
        var state: UInt64
        mutating func roll(_ sides: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(sides))
        }
    }

    @Test("after any prefix of operations the restored tables equal the living ones", arguments: [UInt64(1), 2, 3, 4, 5])
    func anyPrefix(seed: UInt64) throws {
        let store = MemoryStore()
        let bench = Bench(store: store)
        var dice = Dice(state: seed)
        var tags: [String: String] = [:]
        var accepted: [(SIPResponse, cSeq: Int)] = []
        var versions: [String: Int] = [:]
        var mostRecords = 0
        for _ in 0..<120 {
            let user = "user\(dice.roll(3))"
            switch dice.roll(7) {
            case 0, 1:
                let isRemoval = dice.roll(5) == 0 && tags[user] != nil
                words.publish(
                    bench, "\(user)@example.com",
                    body: isRemoval || (dice.roll(3) == 0 && tags[user] != nil)
                        ? "" : Bench.pidf("\(user)@example.com", activity: ["busy", "away"][dice.roll(2)]),
                    ifMatch: tags[user], expires: isRemoval ? 0 : 60 + dice.roll(600))
                while !bench.isQuiet(at: HostedPresentityTests.client) {
                    guard case .response(let response) = try bench.next(at: HostedPresentityTests.client) else { continue }
                    tags[user] = isRemoval ? nil : response.headers.sipETag
                }
            case 2:
                words.service(
                    bench, "\(user)@fabrikam.com",
                    words.state(3_500 + 1_000 * dice.roll(10), version: dice.roll(6) == 0 ? 99 : versions[user] ?? 0))
                guard case .response(let response) = try bench.next(at: HostedPresentityTests.client) else { continue }
                if response.status == .ok { versions[user, default: 0] += 1 }
            case 3:
                let expires = 60 + dice.roll(1_000)
                if dice.roll(2) == 0 {
                    bench.send(
                        bench.subscribe("ann@example.org", to: "\(user)@example.com", expires: expires, via: Bench.simple),
                        from: Bench.simple)
                } else {
                    bench.send(
                        bench.categorySubscribe("ulla@contoso.com", to: "\(user)@fabrikam.com", expires: expires), from: Bench.enterprise)
                }
            case 4:
                if !accepted.isEmpty {
                    let index = dice.roll(accepted.count)
                    accepted[index].cSeq += 1
                    let peer = accepted[index].0.headers.from?.uri.domainKey == "contoso.com" ? Bench.enterprise : Bench.simple
                    bench.send(
                        bench.inDialog(accepted[index].0, cSeq: accepted[index].cSeq, expires: dice.roll(4) == 0 ? 0 : 300, via: peer),
                        from: peer)
                }
            default: bench.pass(.seconds(dice.roll(90)))
            }
            for peer in [Bench.simple, Bench.enterprise] {
                while !bench.isQuiet(at: peer) {
                    switch try bench.next(at: peer) {
                    case .request(let request): if dice.roll(10) > 0 { bench.answer(request, 200, from: peer) }
                    case .response(let response):
                        if response.status == .ok, response.method == .subscribe { accepted.append((response, 1)) }
                    }
                }
            }
            mostRecords = max(mostRecords, store.records.count)
            compare(store, with: bench.gateway, at: bench.now)
        }
        #expect(mostRecords >= 5)
    }

    private func compare(_ store: MemoryStore, with living: Gateway, at now: Instant) {
        for (key, record) in store.records { #expect(living.flows.record(of: key) == record) }
        // Nothing is due, so that nothing is told: the copy is what was kept.
        let restored = Gateway(configuration: living.configuration, key: .seeded(7), store: MemoryStore())
        let state = restored.restore(Array(store.records.values), at: now)
        #expect(state.unreadable == 0)
        for (key, record) in store.records {
            guard case .dialog(let stored) = record, case .dialog(let copy)? = restored.flows.record(of: key) else {
                #expect(restored.flows.record(of: key) == record)
                continue
            }
            var expected = stored
            expected.dialog.localCSeq += Dialog.resumptionGap
            // Its next notification has the first number of a block.
            if stored.isUnsettled { expected.dialog.localCSeq += DialogRecord.Reserve.size }
            #expect(copy == expected)
        }
        #expect(restored.counts.watcherDialogs == store.records.keys.filter { if case .dialog = $0 { true } else { false } }.count)
    }
}
