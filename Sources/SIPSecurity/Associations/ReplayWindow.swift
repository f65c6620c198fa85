/// Replay protection for an increasing sequence: accepts each number once, and none that is 256 or more below the greatest (MS-SIPAE
/// 3.1.5: cnum; RFC 7616 3.4: nc).
struct ReplayWindow: Sendable {
    static let size: UInt32 = 256

    private var greatest: UInt32 = 0
    /// One bit per number, at the number modulo the size.
    private var seen: [UInt64] = [0, 0, 0, 0]

    init() {}

    /// Marks a number as used; false if it is 0, too old, or already used.
    mutating func accept(_ number: UInt32) -> Bool {
        guard number > 0 else { return false }
        if number > greatest {
            let gap = number - greatest
            if gap >= Self.size {
                seen = [0, 0, 0, 0]
            } else {
                for passed in 1...gap { set(greatest + passed, false) }
            }
            greatest = number
        } else if greatest - number >= Self.size || isSet(number) {
            return false
        }
        set(number, true)
        return true
    }

    private func isSet(_ number: UInt32) -> Bool {
        let place = Int(number % Self.size)
        return seen[place / 64] & (1 << UInt64(place % 64)) != 0
    }

    private mutating func set(_ number: UInt32, _ isSeen: Bool) {
        let place = Int(number % Self.size)
        if isSeen { seen[place / 64] |= 1 << UInt64(place % 64) } else { seen[place / 64] &= ~(1 << UInt64(place % 64)) }
    }
}
