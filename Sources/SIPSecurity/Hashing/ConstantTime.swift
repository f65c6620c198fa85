import COpenSSL

/// Comparison in a time that does not depend on the position of the first difference.
enum ConstantTime {
    /// Whether both arrays are equal; different lengths return early, because the length is not secret.
    static func equal(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
    }
}
