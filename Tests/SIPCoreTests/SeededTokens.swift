@_spi(TokenSource) import SIPCore

extension TokenGenerator {
    /// Repeatable generator.
    init(seed: UInt64, prefix: String = "") { self.init(key: TokenKey(seed, 0, 0, 0), prefix: prefix) }
}
