@_spi(TokenSource) import SIPCore

extension TokenKey {
    /// A repeatable one.
    static func seeded(_ seed: UInt64) -> TokenKey { TokenKey(seed, 0, 0, 0) }
}
