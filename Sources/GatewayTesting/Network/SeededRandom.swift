/// The only source of chance in a simulation: SplitMix64 over one seed, so that a run is repeated by repeating its seed.
public struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) {
        state = seed
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// True with the given probability; 0 and 1 do not consume a number.
    public mutating func chance(_ probability: Double) -> Bool {
        if probability <= 0 { return false }
        if probability >= 1 { return true }
        return Double.random(in: 0..<1, using: &self) < probability
    }

    /// A generator of its own for one part of a simulation, so that its draws do not shift those of the others.
    public mutating func split() -> SeededRandom {
        SeededRandom(seed: next())
    }
}
