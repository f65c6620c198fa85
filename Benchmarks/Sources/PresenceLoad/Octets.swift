import Glibc

/// Growable octets outside of Swift's arrays, so that the load spends no time on bounds checks and reference counts.
final class Octets {
    private(set) var base: UnsafeMutablePointer<UInt8>
    private(set) var count = 0
    private var capacity: Int

    init(capacity: Int = 1_024) {
        self.capacity = capacity
        base = .allocate(capacity: capacity)
    }

    deinit { base.deallocate() }

    /// Makes room for `more` octets behind the content.
    func reserve(_ more: Int) {
        guard count + more > capacity else { return }
        capacity = max(capacity * 2, count + more)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: base, count: count)
        base.deallocate()
        base = larger
    }

    func removeAll() { count = 0 }

    /// Removes the first `length` octets.
    func removeFirst(_ length: Int) {
        count -= length
        if count > 0, length > 0 { memmove(base, base + length, count) }
    }

    /// Counts octets that were written behind the content.
    func grow(_ length: Int) { count += length }

    func append(_ start: UnsafePointer<UInt8>, _ length: Int) {
        reserve(length)
        memcpy(base + count, start, length)
        count += length
    }

    func append(_ text: StaticString) { append(text.utf8Start, text.utf8CodeUnitCount) }

    func append(_ bytes: [UInt8]) { bytes.withUnsafeBufferPointer { if let start = $0.baseAddress { append(start, $0.count) } } }

    func append(_ other: Octets) { append(other.base, other.count) }

    /// Appends a number in decimal digits.
    func append(_ number: Int) {
        reserve(20)
        var digits = 1
        var rest = number / 10
        while rest > 0 {
            digits += 1
            rest /= 10
        }
        rest = number
        var place = count + digits
        repeat {
            place -= 1
            base[place] = UInt8(0x30 + rest % 10)
            rest /= 10
        } while rest > 0
        count += digits
    }
}
