/// The only random source of a simulation: SplitMix64 with one seed, so that the same seed repeats a run.
package struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator; equal seeds give equal sequences.
    package init(seed: UInt64) {
        state = seed
    }

    /// Returns the next 64 random bits.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns true with the given probability; 0 and 1 consume no random number.
    package mutating func chance(_ probability: Double) -> Bool {
        if probability <= 0 { return false }
        if probability >= 1 { return true }
        return Double.random(in: 0..<1, using: &self) < probability
    }

    /// Returns an independent generator for one part of a simulation, so that its draws do not shift those of other parts.
    package mutating func split() -> SeededRandom {
        SeededRandom(seed: next())
    }
}
