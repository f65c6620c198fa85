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
    /// The value of names that are not in the table.
    private var none: Value?
    /// Serial number of the last name: 31 bits that count over the table's life.
    private var serial: UInt64 = 0

    var count: Int { slots.count - free.count }

    /// Name of the next value.
    var nextName: UInt64 {
        Self.mark | ((serial + 1) & 0x7FFF_FFFF) << 32 | UInt64(free.last ?? UInt32(slots.count))
    }

    /// Stores a value under ``nextName``.
    /// - Returns: the name.
    @discardableResult
    mutating func insert(_ value: Value) -> UInt64 {
        let name = nextName
        let slot = Slot(name: name, value: value)
        serial = (serial + 1) & 0x7FFF_FFFF
        if let place = free.popLast() { slots[Int(place)] = slot } else { slots.append(slot) }
        return name
    }

    subscript(name: UInt64) -> Value? {
        @inline(__always) get {
            guard let place = place(of: name) else { return nil }
            return slots[place].value
        }
        @inline(__always) _modify {
            if let place = place(of: name) {
                yield &slots[place].value
            } else {
                // No local variable, whose memory each access would allocate.
                yield &none
                none = nil
            }
        }
    }

    /// Removes a value.
    /// - Returns: whether there was one.
    mutating func remove(_ name: UInt64) -> Bool {
        guard let place = place(of: name) else { return false }
        slots[place].name = 0
        slots[place].value = nil
        free.append(UInt32(place))
        if free.count == slots.count, slots.count > 1_024 { (slots, free) = ([], []) }
        return true
    }

    private func place(of name: UInt64) -> Int? {
        let place = Int(name & 0xFFFF_FFFF)
        return name & Self.mark != 0 && place < slots.count && slots[place].name == name ? place : nil
    }
}
