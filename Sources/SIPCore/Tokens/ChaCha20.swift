/// ChaCha20 (RFC 8439 2.3): twenty rounds over sixteen words. Source of all values that a peer must not guess.
struct ChaCha20 {
    private var a0: UInt32, a1: UInt32, a2: UInt32, a3: UInt32
    private var b0: UInt32, b1: UInt32, b2: UInt32, b3: UInt32
    private var c0: UInt32, c1: UInt32, c2: UInt32, c3: UInt32
    private var d0: UInt32, d1: UInt32, d2: UInt32, d3: UInt32

    /// Last row: block counter and nonce of a stream, else 16 octets of input.
    typealias Row = (UInt32, UInt32, UInt32, UInt32)

    private init(_ key: TokenKey, _ row: Row) {
        // "expand 32-byte k".
        (a0, a1, a2, a3) = (0x6170_7865, 0x3320_646E, 0x7962_2D32, 0x6B20_6574)
        let words = key.words
        (b0, b1) = Self.halves(words.0)
        (b2, b3) = Self.halves(words.1)
        (c0, c1) = Self.halves(words.2)
        (c2, c3) = Self.halves(words.3)
        (d0, d1, d2, d3) = row
    }

    /// 64 octets of a key stream (RFC 8439 2.3).
    static func block(_ key: TokenKey, _ row: Row) -> [UInt64] {
        let first = ChaCha20(key, row)
        var state = first
        state.scramble()
        return [
            join(state.a0 &+ first.a0, state.a1 &+ first.a1), join(state.a2 &+ first.a2, state.a3 &+ first.a3),
            join(state.b0 &+ first.b0, state.b1 &+ first.b1), join(state.b2 &+ first.b2, state.b3 &+ first.b3),
            join(state.c0 &+ first.c0, state.c1 &+ first.c1), join(state.c2 &+ first.c2, state.c3 &+ first.c3),
            join(state.d0 &+ first.d0, state.d1 &+ first.d1), join(state.d2 &+ first.d2, state.d3 &+ first.d3),
        ]
    }

    /// Derives a key from a key and 16 octets: HChaCha20 (draft-irtf-cfrg-xchacha 2.2), which reveals neither the key nor another
    /// input's result.
    static func derive(_ key: TokenKey, _ input: Row) -> TokenKey {
        var state = ChaCha20(key, input)
        state.scramble()
        return TokenKey(join(state.a0, state.a1), join(state.a2, state.a3), join(state.d0, state.d1), join(state.d2, state.d3))
    }

    private mutating func scramble() {
        for _ in 0..<10 {
            Self.quarter(&a0, &b0, &c0, &d0)
            Self.quarter(&a1, &b1, &c1, &d1)
            Self.quarter(&a2, &b2, &c2, &d2)
            Self.quarter(&a3, &b3, &c3, &d3)
            Self.quarter(&a0, &b1, &c2, &d3)
            Self.quarter(&a1, &b2, &c3, &d0)
            Self.quarter(&a2, &b3, &c0, &d1)
            Self.quarter(&a3, &b0, &c1, &d2)
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
