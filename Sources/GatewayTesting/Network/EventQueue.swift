import SIPCore

/// Binary heap of events: earliest first, in order of insertion at the same instant.
struct EventQueue<Event> {
    private struct Item {
        var time: Instant
        var order: UInt64
        var event: Event

        func precedes(_ other: Item) -> Bool {
            time == other.time ? order < other.order : time < other.time
        }
    }

    private var items: [Item] = []
    private var nextOrder: UInt64 = 0

    var nextTime: Instant? { items.first?.time }
    var count: Int { items.count }

    mutating func add(_ event: Event, at time: Instant) {
        items.append(Item(time: time, order: nextOrder, event: event))
        nextOrder += 1
        var child = items.count - 1
        while child > 0, case let parent = (child - 1) / 2, items[child].precedes(items[parent]) {
            items.swapAt(child, parent)
            child = parent
        }
    }

    mutating func removeFirst() -> (time: Instant, event: Event)? {
        guard let first = items.first else { return nil }
        let last = items.removeLast()
        if !items.isEmpty {
            items[0] = last
            var parent = 0
            while true {
                var least = parent
                for child in [2 * parent + 1, 2 * parent + 2] where child < items.count && items[child].precedes(items[least]) {
                    least = child
                }
                if least == parent { break }
                items.swapAt(parent, least)
                parent = least
            }
        }
        return (first.time, first.event)
    }
}
