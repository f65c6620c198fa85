import COpenSSL

/// Comparison whose time says nothing about where two secrets differ.
enum ConstantTime {
    /// Whether both are the same octets; different lengths are told apart at once, being no secret.
    static func equal(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
    }
}
