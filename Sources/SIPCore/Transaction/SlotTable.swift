/// Table of values under names that are not reused within 2^31 insertions: a name contains the position of its value, so that
/// lookup needs no hashing.
///
/// Names have the highest bit set; other tables may use numbers without it.
struct SlotTable<Value: Sendable>: Sendable {
    private struct Slot: Sendable {
        var name: UInt64
        var value: Value?
    }

    private static var mark: UInt64 { 1 << 63 }

    private var slots: [Slot] = []
    private var free: [UInt32] = []
    /// Serial number of the last name: 31 bits that count over the table's life.
    private var serial: UInt64 = 0

    var count: Int { slots.count - free.count }

    /// Stores a value.
    /// - Returns: Its name.
    mutating func insert(_ make: (UInt64) -> Value) -> UInt64 {
        serial = (serial + 1) & 0x7FFF_FFFF
        let place = free.popLast() ?? UInt32(slots.count)
        let name = Self.mark | serial << 32 | UInt64(place)
        let slot = Slot(name: name, value: make(name))
        if Int(place) == slots.count { slots.append(slot) } else { slots[Int(place)] = slot }
        return name
    }

    subscript(name: UInt64) -> Value? {
        get { place(of: name).flatMap { slots[$0].value } }
        _modify {
            if let place = place(of: name) {
                yield &slots[place].value
            } else {
                var nobody: Value?
                yield &nobody
            }
        }
    }

    mutating func remove(_ name: UInt64) -> Value? {
        guard let place = place(of: name), let value = slots[place].value else { return nil }
        slots[place] = Slot(name: 0, value: nil)
        free.append(UInt32(place))
        if free.count == slots.count, slots.count > 1_024 { (slots, free) = ([], []) }
        return value
    }

    private func place(of name: UInt64) -> Int? {
        let place = Int(name & 0xFFFF_FFFF)
        return name & Self.mark != 0 && place < slots.count && slots[place].name == name ? place : nil
    }
}
