/// Source of tags, branches, Call-IDs and entity-tags: 128 bits each from a generator that is seeded from outside, so that the core stays
/// reproducible (RFC 3261 19.3 asks for at least 32 bits).
///
/// An optional prefix stands at the front of every token, so that an edge can find the shard of an in-dialog message by its tag.
/// The generator is xoshiro256**; its seed must come from the system's random source in production.
public struct TokenGenerator: Sendable {
    private var state: (UInt64, UInt64, UInt64, UInt64)
    /// Stands before every token; only characters of a token (RFC 3261 25.1).
    public let prefix: String

    /// - Parameters:
    ///   - seed: Any number; spread by SplitMix64.
    ///   - prefix: Put before every token; characters that no token may have are dropped.
    public init(seed: UInt64, prefix: String = "") {
        self.init(seed: (seed, 0, 0, 0), prefix: prefix)
    }

    /// - Parameter seed: 256 bits; all of them count.
    public init(seed: (UInt64, UInt64, UInt64, UInt64), prefix: String = "") {
        var sequence: UInt64 = seed.0
        func split() -> UInt64 {
            sequence &+= 0x9E37_79B9_7F4A_7C15
            var word = sequence
            word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            return word ^ (word >> 31)
        }
        state = (split(), split() ^ seed.1, split() ^ seed.2, split() ^ seed.3)
        if state == (0, 0, 0, 0) { state.0 = 1 }
        self.prefix = String(decoding: prefix.utf8.filter { ASCII.isToken($0) }, as: UTF8.self)
    }

    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        func rotate(_ word: UInt64, _ count: UInt64) -> UInt64 { word << count | word >> (64 - count) }
        let result = rotate(state.1 &* 5, 7) &* 9
        let shifted = state.1 << 17
        state.2 ^= state.0
        state.3 ^= state.1
        state.1 ^= state.2
        state.0 ^= state.3
        state.2 ^= shifted
        state.3 = rotate(state.3, 45)
        return result
    }

    /// A whole number below `limit`; 0 for a limit of 0.
    public mutating func number(below limit: UInt64) -> UInt64 {
        limit == 0 ? 0 : next().multipliedFullWidth(by: limit).high
    }

    /// The prefix and 26 characters of 0-9, a-v: 128 bits.
    public mutating func token() -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(26)
        for _ in 0..<2 {
            var word = next()
            for _ in 0..<13 {
                let digit = UInt8(word & 31)
                bytes.append(digit < 10 ? 0x30 + digit : 0x57 + digit)
                word >>= 5
            }
        }
        return prefix + String(decoding: bytes, as: UTF8.self)
    }

    /// A From or To tag (RFC 3261 19.3).
    public mutating func tag() -> String { token() }

    /// A Via branch with the cookie of RFC 3261 8.1.1.7.
    public mutating func branch() -> String { "z9hG4bK" + token() }

    /// A Call-ID (RFC 3261 8.1.1.4), with `@host` unless the host is empty.
    public mutating func callID(host: String = "") -> String { host.isEmpty ? token() : token() + "@" + host }

    /// An entity-tag (RFC 3903 4.1).
    public mutating func entityTag() -> String { token() }
}

/// Also a source for the draws of the standard library, as reproducible as the tokens.
extension TokenGenerator: RandomNumberGenerator {}
