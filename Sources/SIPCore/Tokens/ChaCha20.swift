/// ChaCha20 (RFC 8439 2.3): twenty rounds over sixteen words. Source of all values that a peer must not guess.
struct ChaCha20 {
    /// Four words of the state. The last row is the block counter and the nonce of a stream, else 16 octets of input.
    typealias Row = (UInt32, UInt32, UInt32, UInt32)

    private var a: Row
    private var b: Row
    private var c: Row
    private var d: Row

    private init(_ key: TokenKey, _ row: Row) {
        // "expand 32-byte k".
        a = (0x6170_7865, 0x3320_646E, 0x7962_2D32, 0x6B20_6574)
        let words = key.words
        let (b0, b1) = Self.halves(words.0)
        let (b2, b3) = Self.halves(words.1)
        b = (b0, b1, b2, b3)
        let (c0, c1) = Self.halves(words.2)
        let (c2, c3) = Self.halves(words.3)
        c = (c0, c1, c2, c3)
        d = row
    }

    /// 64 octets of a key stream (RFC 8439 2.3).
    static func block(_ key: TokenKey, _ row: Row) -> [UInt64] {
        let first = ChaCha20(key, row)
        var state = first
        state.scramble()
        return [
            join(state.a.0 &+ first.a.0, state.a.1 &+ first.a.1), join(state.a.2 &+ first.a.2, state.a.3 &+ first.a.3),
            join(state.b.0 &+ first.b.0, state.b.1 &+ first.b.1), join(state.b.2 &+ first.b.2, state.b.3 &+ first.b.3),
            join(state.c.0 &+ first.c.0, state.c.1 &+ first.c.1), join(state.c.2 &+ first.c.2, state.c.3 &+ first.c.3),
            join(state.d.0 &+ first.d.0, state.d.1 &+ first.d.1), join(state.d.2 &+ first.d.2, state.d.3 &+ first.d.3),
        ]
    }

    /// Derives a key from a key and 16 octets: HChaCha20 (draft-irtf-cfrg-xchacha 2.2), which reveals neither the key nor another
    /// input's result.
    static func derive(_ key: TokenKey, _ input: Row) -> TokenKey {
        var state = ChaCha20(key, input)
        state.scramble()
        return TokenKey(join(state.a.0, state.a.1), join(state.a.2, state.a.3), join(state.d.0, state.d.1), join(state.d.2, state.d.3))
    }

    private mutating func scramble() {
        for _ in 0..<10 {
            Self.quarter(&a.0, &b.0, &c.0, &d.0)
            Self.quarter(&a.1, &b.1, &c.1, &d.1)
            Self.quarter(&a.2, &b.2, &c.2, &d.2)
            Self.quarter(&a.3, &b.3, &c.3, &d.3)
            Self.quarter(&a.0, &b.1, &c.2, &d.3)
            Self.quarter(&a.1, &b.2, &c.3, &d.0)
            Self.quarter(&a.2, &b.3, &c.0, &d.1)
            Self.quarter(&a.3, &b.0, &c.1, &d.2)
        }
    }

    /// Quarter round (RFC 8439 2.1).
    @inline(__always)
    private static func quarter(_ a: inout UInt32, _ b: inout UInt32, _ c: inout UInt32, _ d: inout UInt32) {
        a = a &+ b
        d ^= a
        d = d &<< 16 | d &>> 16
        c = c &+ d
        b ^= c
        b = b &<< 12 | b &>> 20
        a = a &+ b
        d ^= a
        d = d &<< 8 | d &>> 24
        c = c &+ d
        b ^= c
        b = b &<< 7 | b &>> 25
    }

    /// Words are little-endian: the first of two is the lower half.
    static func halves(_ word: UInt64) -> (UInt32, UInt32) { (UInt32(truncatingIfNeeded: word), UInt32(truncatingIfNeeded: word &>> 32)) }
    private static func join(_ low: UInt32, _ high: UInt32) -> UInt64 { UInt64(low) | UInt64(high) &<< 32 }
}
