/// 256 secret bits, from which identifiers are made that no peer can guess.
///
/// The program makes one of the system's random source, and only at its edge: the initializer is not part of what modules see that import
/// SIPCore as usual. Everything below derives a key of its own for each use.
public struct TokenKey: Sendable {
    let words: (UInt64, UInt64, UInt64, UInt64)

    /// - Parameters: 256 bits of a cryptographic source; of the test's choice in tests and simulations, which so can be repeated.
    @_spi(TokenSource)
    public init(_ first: UInt64, _ second: UInt64, _ third: UInt64, _ fourth: UInt64) {
        words = (first, second, third, fourth)
    }

    /// The key for one use: it tells nothing of this key or of those for other uses.
    public func derived(for use: String) -> TokenKey { mixed(with: use.utf8) }

    /// A pseudo-random function of octets: each 16 of them, padded with zeros, make the next key of the last (a cascade of HChaCha20). The
    /// length comes first, so that no input is the beginning of another.
    func mixed(with octets: some Collection<UInt8>) -> TokenKey {
        let length = ChaCha20.halves(UInt64(octets.count))
        var key = ChaCha20.derive(self, (length.0, length.1, 0, 0))
        var words: (UInt64, UInt64) = (0, 0)
        var filled: UInt64 = 0
        func absorb() {
            let (first, second) = (ChaCha20.halves(words.0), ChaCha20.halves(words.1))
            key = ChaCha20.derive(key, (first.0, first.1, second.0, second.1))
            (words, filled) = ((0, 0), 0)
        }
        for octet in octets {
            if filled < 8 { words.0 |= UInt64(octet) &<< (filled &* 8) } else { words.1 |= UInt64(octet) &<< ((filled &- 8) &* 8) }
            filled &+= 1
            if filled == 16 { absorb() }
        }
        if filled > 0 { absorb() }
        return key
    }
}

/// Shows nothing of the key.
extension TokenKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "TokenKey" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
