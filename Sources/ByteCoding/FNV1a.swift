/// FNV-1a hash with 64 bits: fast, without a key, equal in every process and version. Not for tables that an attacker can fill with
/// chosen keys.
package struct FNV1a: Hashable, Sendable {
    @usableFromInline var hash: UInt64 = 0xCBF2_9CE4_8422_2325

    /// The hash of the octets added so far.
    @inlinable package var value: UInt64 { hash }

    /// Creates the hash of no octets.
    @inlinable package init() {}

    /// Creates the hash of a sequence of octets.
    @inlinable package init(of octets: some Sequence<UInt8>) { add(octets) }

    /// Adds octets in order.
    @inlinable package mutating func add(_ octets: some Sequence<UInt8>) {
        for octet in octets { add(word: UInt64(octet)) }
    }

    /// Adds 64 bits in one step; differs from adding their eight octets.
    @inlinable package mutating func add(word: UInt64) { hash = (hash ^ word) &* 0x100_0000_01B3 }
}

/// FNV-1a hash with 32 bits; see ``FNV1a``.
package enum FNV1a32 {
    /// The hash of no octets.
    package static let seed: UInt32 = 0x811C_9DC5

    /// Returns the hash after one more octet.
    @inlinable @inline(__always) package static func step(_ hash: UInt32, _ octet: UInt8) -> UInt32 {
        (hash ^ UInt32(octet)) &* 0x0100_0193
    }

    /// Returns the hash of a sequence of octets.
    @inlinable package static func hash(_ octets: some Sequence<UInt8>) -> UInt32 {
        var hash = seed
        for octet in octets { hash = step(hash, octet) }
        return hash
    }
}
