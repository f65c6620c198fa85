@_spi(TokenSource) import SIPCore

extension TokenKey {
    /// A repeatable one; shared by the test targets of this package that use this module.
    package static func seeded(_ seed: UInt64) -> TokenKey { TokenKey(seed, 0, 0, 0) }
}
