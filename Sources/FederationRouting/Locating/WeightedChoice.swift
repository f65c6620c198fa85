/// The selection order of RFC 2782: by priority, and at random by weight within one priority.
package enum WeightedChoice {
    /// Returns all items in selection order.
    /// - Parameters:
    ///   - items: items with a priority (lower first) and a weight (share; 0: rarely first if others have a weight).
    ///   - random: generator seeded by the caller.
    package static func order<Item>(
        _ items: [Item], priority: (Item) -> Int, weight: (Item) -> Int, using random: inout some RandomNumberGenerator
    ) -> [Item] {
        guard items.count > 1 else { return items }
        var ordered: [Item] = []
        ordered.reserveCapacity(items.count)
        for level in Set(items.map(priority)).sorted() {
            let peers = items.filter { priority($0) == level }
            // Items without weight come first, so that a draw of exactly 0 selects them.
            var rest = peers.filter { weight($0) <= 0 } + peers.filter { weight($0) > 0 }
            while rest.count > 1 {
                let sum = rest.reduce(0) { $0 + max(weight($1), 0) }
                // All weights are 0: equal chances.
                if sum == 0 {
                    rest.shuffle(using: &random)
                    break
                }
                let draw = Int.random(in: 0...sum, using: &random)
                var running = 0
                let chosen = rest.firstIndex {
                    running += max(weight($0), 0)
                    return running >= draw
                }
                ordered.append(rest.remove(at: chosen ?? 0))
            }
            ordered += rest
        }
        return ordered
    }
}
