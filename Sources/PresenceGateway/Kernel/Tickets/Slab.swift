/// Position of an element in a ``Slab``: a slot, and the generation that distinguishes the elements that used the slot one after another.
struct SlabKey: Hashable, Sendable {
    let slot: UInt32
    let generation: UInt32
}

/// Table that makes its keys: a lookup is an array access, and the key of a removed element finds nothing.
///
/// Slots are reused, so the table is as long as its largest number of elements was; its owner limits that number.
struct Slab<Element> {
    private struct Slot {
        var element: Element?
        /// Generation of the element, or of the next one if the slot is free.
        var generation: UInt32
    }

    private var slots: [Slot] = []
    private var free: [UInt32] = []
    private let firstGeneration: UInt32

    /// - Parameter firstGeneration: generation of the first element of each slot.
    init(firstGeneration: UInt32 = 0) {
        self.firstGeneration = firstGeneration
    }

    /// Number of elements.
    private(set) var count = 0

    /// Number of slots, free ones included.
    var capacity: Int { slots.count }

    /// Adds an element.
    mutating func insert(_ element: Element) -> SlabKey {
        count += 1
        if let slot = free.popLast() {
            slots[Int(slot)].element = element
            return SlabKey(slot: slot, generation: slots[Int(slot)].generation)
        }
        slots.append(Slot(element: element, generation: firstGeneration))
        return SlabKey(slot: UInt32(slots.count - 1), generation: firstGeneration)
    }

    /// The element with the key; nil: it was removed.
    subscript(key: SlabKey) -> Element? {
        guard key.slot < slots.count, slots[Int(key.slot)].generation == key.generation else { return nil }
        return slots[Int(key.slot)].element
    }

    /// Removes an element and frees its slot. The slot of the last generation stays unused, because its keys could not be distinguished
    /// from earlier ones.
    @discardableResult
    mutating func remove(_ key: SlabKey) -> Element? {
        guard let element = self[key] else { return nil }
        let index = Int(key.slot)
        slots[index].element = nil
        count -= 1
        guard key.generation < .max else { return element }
        slots[index].generation += 1
        free.append(key.slot)
        return element
    }
}
