import COpenSSL

/// A hash function; the raw value is OpenSSL's name.
public enum HashAlgorithm: String, Hashable, Sendable, CaseIterable {
    /// RFC 1320, 16 octets; only for the NT hash (MS-NLMP 3.3.1).
    case md4 = "MD4"
    /// RFC 1321, 16 octets.
    case md5 = "MD5"
    /// FIPS 180-4, 20 octets; for name-based UUIDs (RFC 4122 4.3) and TLS-DSK.
    case sha1 = "SHA1"
    /// FIPS 180-4, 32 octets.
    case sha256 = "SHA2-256"
    /// FIPS 180-4 5.3.6.2, 32 octets.
    case sha512Truncated256 = "SHA2-512/256"

    /// The hash of the bytes. Stops the program if OpenSSL lacks the algorithm, see ``CryptoLibrary/problem``.
    public func digest(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let input = Array(bytes)
        var output = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        let isDone = EVP_Digest(input, input.count, &output, &length, CryptoLibrary.shared.digest(self), nil)
        precondition(isDone == 1, "OpenSSL cannot hash")
        return Array(output.prefix(Int(length)))
    }

    /// The hash of the UTF-8 octets in lower-case hexadecimal digits (RFC 7616 3.1.3).
    public func hexDigest(_ text: String) -> String { Hexadecimal.text(digest(text.utf8)) }

    /// HMAC (RFC 2104) with this function; `key` may have any length.
    public func authenticationCode(_ bytes: some Collection<UInt8>, key: [UInt8]) -> [UInt8] {
        var pad = key.count > blockLength ? digest(key) : key
        pad += [UInt8](repeating: 0, count: blockLength - pad.count)
        let inner = digest(pad.map { $0 ^ 0x36 } + bytes)
        return digest(pad.map { $0 ^ 0x5C } + inner)
    }

    /// Block length in octets.
    private var blockLength: Int { self == .sha512Truncated256 ? 128 : 64 }
}
