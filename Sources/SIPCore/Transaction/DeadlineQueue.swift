/// Binary heap of deadlines. Setting and taking one costs O(log n); replaced deadlines stay until they are the earliest or
/// outnumber the live ones.
public struct DeadlineQueue<Key: Hashable & Sendable>: Sendable {
    private struct Item: Sendable {
        var at: Instant
        var key: Key
    }

    private var heap: [Item] = []
    private var current: [Key: Instant] = [:]

    /// Creates an empty queue.
    public init() {}

    /// Number of keys with a deadline.
    public var count: Int { current.count }

    /// Sets or replaces the deadline of a key; nil removes it.
    public mutating func set(_ key: Key, at deadline: Instant?) {
        guard let deadline else {
            current[key] = nil
            return compactIfStale()
        }
        if current.updateValue(deadline, forKey: key) == deadline { return }
        heap.append(Item(at: deadline, key: key))
        siftUp(heap.count - 1)
        compactIfStale()
    }

    /// Earliest deadline; nil when there is none.
    public var next: Instant? {
        mutating get {
            dropStale()
            return heap.first?.at
        }
    }

    /// Removes and returns the key with the earliest deadline if it is due; nil otherwise.
    public mutating func popDue(at now: Instant) -> Key? {
        dropStale()
        guard let first = heap.first, first.at <= now else { return nil }
        removeFirst()
        current[first.key] = nil
        return first.key
    }

    private mutating func dropStale() {
        while let first = heap.first, current[first.key] != first.at { removeFirst() }
    }

    private mutating func compactIfStale() {
        guard heap.count > 64, heap.count > current.count * 4 else { return }
        heap = current.map { Item(at: $0.value, key: $0.key) }
        heap.sort { $0.at < $1.at }
    }

    private mutating func removeFirst() {
        let last = heap.removeLast()
        if heap.isEmpty { return }
        heap[0] = last
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count && heap[child].at < heap[least].at { least = child }
            if least == index { return }
            heap.swapAt(index, least)
            index = least
        }
    }

    private mutating func siftUp(_ start: Int) {
        var index = start
        while index > 0 {
            let parent = (index - 1) / 2
            guard heap[index].at < heap[parent].at else { return }
            heap.swapAt(index, parent)
            index = parent
        }
    }
}
