/// 256 secret bits, from which identifiers are derived that a peer cannot guess.
///
/// The program creates one from the system's random source, at its edge only: the initializer is visible only to modules that
/// import SIPCore with its SPI. Other modules derive a key for each use.
public struct TokenKey: Sendable {
    let words: (UInt64, UInt64, UInt64, UInt64)

    /// Creates a key from 256 bits of a cryptographic source; tests and simulations use fixed bits, to be repeatable.
    @_spi(TokenSource)
    public init(_ first: UInt64, _ second: UInt64, _ third: UInt64, _ fourth: UInt64) {
        words = (first, second, third, fourth)
    }

    /// Key for one use; it reveals neither this key nor those of other uses.
    public func derived(for use: String) -> TokenKey { mixed(with: use.utf8) }

    /// Pseudo-random function of octets: each 16 of them, padded with zeros, derive the next key from the last (a cascade of
    /// HChaCha20). The length comes first, so that no input is a prefix of another.
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

/// Descriptions that reveal nothing of the key.
extension TokenKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "TokenKey" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
