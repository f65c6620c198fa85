import FederationRouting
import SIPCore
import Testing

@Suite struct WeightedChoiceTests {
    private struct Item {
        var name: String
        var priority = 0
        var weight: Int
    }

    private func firsts(_ items: [Item], draws: Int) -> [String: Int] {
        var random = TokenGenerator(seed: 7)
        var counts: [String: Int] = [:]
        for _ in 0..<draws {
            let order = WeightedChoice.order(items, priority: \.priority, weight: \.weight, using: &random)
            counts[order[0].name, default: 0] += 1
        }
        return counts
    }

    @Test("RFC 2782: weights over 10,000 draws")
    func weights() {
        let counts = firsts([Item(name: "a", weight: 60), Item(name: "b", weight: 30), Item(name: "c", weight: 10)], draws: 10_000)
        // Within four standard deviations of 6000, 3000 and 1000.
        #expect(abs((counts["a"] ?? 0) - 6_000) < 250)
        #expect(abs((counts["b"] ?? 0) - 3_000) < 250)
        #expect(abs((counts["c"] ?? 0) - 1_000) < 250)
    }

    @Test("RFC 2782: a weight of 0 is hardly ever first beside others, and shares alike among its own")
    func zero() {
        let beside = firsts([Item(name: "a", weight: 99), Item(name: "z", weight: 0)], draws: 10_000)
        #expect((1...300).contains(beside["z"] ?? 0))
        let alone = firsts([Item(name: "a", weight: 0), Item(name: "b", weight: 0)], draws: 10_000)
        #expect(abs((alone["a"] ?? 0) - 5_000) < 250)
    }

    @Test("RFC 2782: a priority comes whole before the next, and nothing is lost or twice")
    func priorities() {
        var random = TokenGenerator(seed: 3)
        let items = (0..<40).map { Item(name: "\($0)", priority: $0 % 4, weight: $0 % 7) }
        for _ in 0..<100 {
            let order = WeightedChoice.order(items, priority: \.priority, weight: \.weight, using: &random)
            #expect(order.map(\.priority) == items.map(\.priority).sorted())
            #expect(Set(order.map(\.name)).count == 40)
        }
    }

    @Test("the same seed draws the same order")
    func reproducible() {
        let items = (0..<10).map { Item(name: "\($0)", weight: $0) }
        func draw() -> [String] {
            var random = TokenGenerator(seed: 11)
            return WeightedChoice.order(items, priority: \.priority, weight: \.weight, using: &random).map(\.name)
        }
        #expect(draw() == draw())
    }
}
