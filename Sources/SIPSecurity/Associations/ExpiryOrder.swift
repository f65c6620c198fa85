import SIPCore

/// Keys ordered by expiry, in a heap: entries may be added in any order.
struct ExpiryOrder: Sendable {
    struct Item: Sendable {
        var key: String
        var made: Instant
        var expiry: Instant
    }

    private var heap: [Item] = []

    var count: Int { heap.count }

    mutating func append(_ key: String, made: Instant, until expiry: Instant) {
        heap.append(Item(key: key, made: made, expiry: expiry))
        var child = heap.count - 1
        while child > 0, heap[child].expiry < heap[(child - 1) / 2].expiry {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Removes the keys that are no longer wanted.
    mutating func keep(where isWanted: (String) -> Bool) {
        let kept = heap.filter { isWanted($0.key) }
        heap = []
        for item in kept { append(item.key, made: item.made, until: item.expiry) }
    }

    /// Removes and returns the next expired key; nil if none has expired.
    mutating func popDue(at now: Instant) -> String? {
        guard let first = heap.first, first.expiry <= now else { return nil }
        return popFirst()?.key
    }

    mutating func popFirst() -> Item? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return first }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [parent * 2 + 1, parent * 2 + 2] where child < heap.count && heap[child].expiry < heap[least].expiry {
                least = child
            }
            if least == parent { return first }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
