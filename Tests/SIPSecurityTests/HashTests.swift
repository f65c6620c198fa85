import Testing

@testable import SIPSecurity

/// Hashes and ciphers against the values of their standards.
@Suite struct HashTests {
    static let digests: [(HashAlgorithm, String, String)] = [
        (.md4, "", "31d6cfe0d16ae931b73c59d7e0c089c0"),
        (.md4, "abc", "a448017aaf21d8525fc10ae87aa6729d"),
        (.md5, "message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        (.sha1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (.sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (.sha512Truncated256, "abc", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
    ]

    @Test("RFC 1320, RFC 1321, FIPS 180-4: the standards' own test values", arguments: digests)
    func digest(_ algorithm: HashAlgorithm, _ text: String, _ expected: String) {
        #expect(algorithm.hexDigest(text) == expected)
    }

    @Test("OpenSSL's legacy provider is there")
    func legacy() {
        #expect(CryptoLibrary.problem == nil)
    }

    @Test("RFC 2202 2: HMAC-MD5, with a key shorter and one longer than a block")
    func keyedHash() {
        let short = HashAlgorithm.md5.authenticationCode("what do ya want for nothing?".utf8, key: Array("Jefe".utf8))
        #expect(Hexadecimal.text(short) == "750c783e6ab0b503eaa86e310a5db738")
        let long = HashAlgorithm.md5.authenticationCode(
            "Test Using Larger Than Block-Size Key - Hash Key First".utf8, key: [UInt8](repeating: 0xAA, count: 80))
        #expect(Hexadecimal.text(long) == "6b1ab7fe4bd7bf8f0b62e6ce61b9d0cd")
    }

    @Test("RFC 4231 4.2: HMAC-SHA-256")
    func keyedSHA256() {
        let code = HashAlgorithm.sha256.authenticationCode("Hi There".utf8, key: [UInt8](repeating: 0x0B, count: 20))
        #expect(Hexadecimal.text(code) == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
    }

    @Test("RFC 6229 2: the first octets of RC4 with the 128-bit key 0102...10")
    func streamCipher() {
        let stream = RC4.apply([UInt8](repeating: 0, count: 16), key: Array(1...16))
        #expect(Hexadecimal.text(stream) == "9ac7cc9a609d1ef7b2932899cde41b97")
    }

    @Test("octets differ wherever one bit differs")
    func comparison() {
        let one = [UInt8](repeating: 7, count: 16)
        #expect(ConstantTime.equal(one, one))
        for index in one.indices {
            var other = one
            other[index] ^= 0x80
            #expect(!ConstantTime.equal(one, other))
        }
        #expect(!ConstantTime.equal(one, Array(one.dropLast())))
    }
}
