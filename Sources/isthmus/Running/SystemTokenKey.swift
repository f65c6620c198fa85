@_spi(TokenSource) import SIPCore

extension TokenKey {
    /// 256 bits of the system's random source, others at each call.
    static func system() -> TokenKey {
        var random = SystemRandomNumberGenerator()
        return TokenKey(random.next(), random.next(), random.next(), random.next())
    }
}
