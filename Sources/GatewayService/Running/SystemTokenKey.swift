@_spi(TokenSource) import SIPCore

extension TokenKey {
    /// Key of 256 random bits of the system, different at each call.
    package static func system() -> TokenKey {
        var random = SystemRandomNumberGenerator()
        return TokenKey(random.next(), random.next(), random.next(), random.next())
    }
}
