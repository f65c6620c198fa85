import COpenSSL

/// The stream cipher of NTLM (MS-NLMP 3.4.3). Each call starts a new stream, because connectionless NTLM derives a key per message.
enum RC4 {
    /// Encrypts or decrypts; both are the same operation.
    /// - Parameter key: 16 octets.
    static func apply(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        guard let cipher = CryptoLibrary.shared.rc4, key.count == 16, let context = EVP_CIPHER_CTX_new() else {
            preconditionFailure("OpenSSL has no RC4 with 128 bits")
        }
        defer { EVP_CIPHER_CTX_free(context) }
        var output = [UInt8](repeating: 0, count: bytes.count)
        var length: Int32 = 0
        let isDone =
            EVP_EncryptInit_ex2(context, cipher, key, nil, nil) == 1
            && EVP_EncryptUpdate(context, &output, &length, bytes, Int32(bytes.count)) == 1
        precondition(isDone && Int(length) == bytes.count, "OpenSSL cannot encrypt")
        return output
    }
}
