@_spi(TokenSource) import SIPCore

extension TokenKey {
    /// Key that depends only on the seed; shared by the test targets that use this module.
    package static func seeded(_ seed: UInt64) -> TokenKey { TokenKey(seed, 0, 0, 0) }
}
