import SIPCore
import Testing

@testable import SIPSecurity

/// NTLMv2 against the specification's values and against a recorded sign-in.
@Suite struct NTLMTests {
    static func bytes(_ text: String) -> [UInt8] { Hexadecimal.bytes(text.filter { $0 != " " }) ?? [] }

    // MARK: MS-NLMP 4.2.1 and 4.2.4: User, Domain, Password, challenge 0123456789abcdef, client challenge of 0xaa, time 0.

    static let challenge = bytes("0123456789abcdef")
    static let temp = bytes(
        "0101000000000000 0000000000000000 aaaaaaaaaaaaaaaa 00000000 02000c0044006f006d00610069006e00 01000c00530065007200760065007200 00000000 00000000"
    )

    @Test("MS-NLMP 4.2.4.1: NTOWFv2, NTProofStr, session base key and encrypted session key")
    func specification() throws {
        let ntHash = try CredentialVerifiers(user: "User", realm: "example.com", password: "Password").ntHash
        let key = NTLMv2.responseKey(ntHash: ntHash, user: "User", domain: "Domain")
        #expect(Hexadecimal.text(key) == "0c868a403bfd7a93a3001ef22ef02e3f")
        let proof = NTLMv2.proof(responseKey: key, serverChallenge: Self.challenge, temp: Self.temp)
        #expect(Hexadecimal.text(proof) == "68cd0ab851e51c96aabc927bebef6a1c")
        let baseKey = HashAlgorithm.md5.authenticationCode(proof, key: key)
        #expect(Hexadecimal.text(baseKey) == "8de40ccadbc14a82f15cb0ad0de95ca3")
        let sealed = RC4.apply([UInt8](repeating: 0x55, count: 16), key: baseKey)
        #expect(Hexadecimal.text(sealed) == "c5dad2544fc9799094ce1ce90bc9d03e")
    }

    @Test("MS-NLMP 4.2.4.4: the client's signing and sealing keys")
    func sessionKeys() {
        let keys = NTLMSessionKeys(exportedSessionKey: [UInt8](repeating: 0x55, count: 16))
        #expect(Hexadecimal.text(keys.key(.clientToServer, isSealing: false)) == "4788dc861b4782f35d43fd98fe1a2d39")
        #expect(Hexadecimal.text(keys.key(.clientToServer, isSealing: true)) == "59f600973cc4960a25480a7c196e4c58")
    }

    // MARK: a recorded sign-in of version 4

    private func recordedKeys() throws -> NTLMSessionKeys {
        let ntHash = HashAlgorithm.md4.digest(UTF16LE.bytes("Pa$$word"))
        let key = NTLMv2.responseKey(ntHash: ntHash, user: "User", domain: "COSMO")
        // The proof is on record; what it was made of is not needed for the keys.
        let baseKey = HashAlgorithm.md5.authenticationCode(Self.bytes("8dc0c800ae76eca606d2b9fbebd04731"), key: key)
        return NTLMSessionKeys(exportedSessionKey: RC4.apply(Self.bytes("31cb739e1ca80a498591e8ae797115e4"), key: baseKey))
    }

    private static let register = """
        REGISTER sip:cosmo.local SIP/2.0\r
        From: <sip:user@cosmo.local>;tag=3e49177a52;epid=c8ca638a15\r
        To: <sip:user@cosmo.local>\r
        Call-ID: 4037df9284354df39065195bd57a4b14\r
        CSeq: 3 REGISTER\r
        Via: SIP/2.0/TLS 192.0.2.1:1;branch=z9hG4bK1\r
        Content-Length: 0\r
        \r

        """

    private static func header(_ random: String) -> SignatureBuffer.Header {
        SignatureBuffer.Header(
            scheme: "NTLM", random: random, number: "1", realm: Authenticator.realm, targetName: "cosmo-ocs-r2.cosmo.local")
    }

    private func headers(_ text: String) throws -> SIPHeaders {
        guard case .success(let message) = SIPParser.parse(Array(text.utf8)) else {
            Issue.record("the recorded message cannot be read")
            return SIPHeaders()
        }
        return message.headers
    }

    @Test("MS-SIPAE 3.1.4.1: the recorded signature of a REGISTER of version 4 verifies")
    func recordedRequest() throws {
        let buffer = SignatureBuffer(Self.header("13317733"), try headers(Self.register), status: nil, version: 4)
        #expect(
            buffer.text
                == "<NTLM><13317733><1><SIP Communications Service><cosmo-ocs-r2.cosmo.local><4037df9284354df39065195bd57a4b14><3><REGISTER>"
                + "<sip:user@cosmo.local><3e49177a52><sip:user@cosmo.local><><><><>")
        let signature = try recordedKeys().signature(of: buffer.text, .clientToServer)
        #expect(Hexadecimal.text(signature) == "0100000029618e9651b65a7764000000")
    }

    @Test("MS-SIPAE 3.1.4.1: the recorded signature of the 200 to it verifies")
    func recordedResponse() throws {
        let text = Self.register.replacing("REGISTER sip:cosmo.local SIP/2.0", with: "SIP/2.0 200 OK")
            .replacing("To: <sip:user@cosmo.local>", with: "To: <sip:user@cosmo.local>;tag=5E61CCD925D17E043D9A74835A88F664")
            .replacing("Content-Length", with: "Expires: 7200\r\nContent-Length")
        let buffer = SignatureBuffer(Self.header("9616454F"), try headers(text), status: .ok, version: 4)
        let signature = try recordedKeys().signature(of: buffer.text, .serverToClient)
        #expect(Hexadecimal.text(signature) == "01000000e615438a917661be64000000")
    }

    @Test("MS-SIPAE 3.1.4.1: versions before 3 sign 13 items, without To and the asserted identities")
    func earlyVersion() throws {
        let text = Self.register.replacing(
            "Via:", with: "P-Asserted-Identity: \"U\" <sip:user@cosmo.local>, <tel:+15550100>\r\nVia:")
        let late = SignatureBuffer(Self.header("a"), try headers(text), status: nil, version: 3).text
        #expect(late.hasSuffix("<3e49177a52><sip:user@cosmo.local><><sip:user@cosmo.local><tel:+15550100><>"))
        let early = SignatureBuffer(Self.header("a"), try headers(text), status: nil, version: 2).text
        #expect(early.hasSuffix("<sip:user@cosmo.local><3e49177a52><><>"))
        #expect(early.filter { $0 == "<" }.count == 12 && late.filter { $0 == "<" }.count == 15, "an answer's status is one more")
    }

    // MARK: AUTHENTICATE

    /// A message that is taken: 72 octets of head, then NT response, domain, user and key.
    static func authenticate() -> [UInt8] {
        let parts: [[UInt8]] = [
            [], bytes("68cd0ab851e51c96aabc927bebef6a1c") + temp, UTF16LE.bytes("Domain"), UTF16LE.bytes("User"), [],
            [UInt8](repeating: 9, count: 16),
        ]
        var fields: [UInt8] = []
        var payload: [UInt8] = []
        for part in parts {
            fields += [UInt8(part.count), 0, UInt8(part.count), 0] + NTLMMessage.word(UInt32(72 + payload.count))
            payload += part
        }
        return NTLMMessage.signature + NTLMMessage.word(3) + fields + NTLMMessage.word(NTLMFlags.offered.rawValue)
            + [UInt8](repeating: 0, count: 8) + payload
    }

    @Test("MS-NLMP 2.2.1.3: a whole AUTHENTICATE message is taken apart")
    func parse() throws {
        let message = try NTLMAuthenticate(Self.authenticate())
        #expect(message.user == "User" && message.domain == "Domain")
        #expect(message.temp == Self.temp && message.encryptedSessionKey.count == 16)
    }

    @Test("MS-NLMP 2.2.2.5: a message without signing, 128 bits or key exchange is refused", arguments: [60, 61, 62, 63])
    func weakFlags(_ place: Int) throws {
        var message = Self.authenticate()
        message[place] = 0
        // The second octet holds nothing that is required.
        if place == 61 {
            _ = try NTLMAuthenticate(message)
        } else {
            #expect(throws: NTLMAuthenticate.Problem.flags) { try NTLMAuthenticate(message) }
        }
    }

    @Test("MS-NLMP 2.2.1.3: a message cut anywhere is refused")
    func cut() {
        let message = Self.authenticate()
        for length in 0..<message.count {
            #expect(throws: NTLMAuthenticate.Problem.self) { try NTLMAuthenticate(Array(message.prefix(length))) }
        }
    }

    @Test("MS-NLMP 2.2.1.3: lengths and offsets of any value are refused or stay inside the message")
    func hostileFields() {
        let message = Self.authenticate()
        var random = TokenGenerator(seed: 7)
        for _ in 0..<20_000 {
            var copy = message
            for _ in 0...random.number(below: 4) {
                let place = Int(random.number(below: UInt64(copy.count)))
                copy[place] = UInt8(truncatingIfNeeded: random.next())
            }
            guard let parsed = try? NTLMAuthenticate(copy) else { continue }
            #expect(parsed.proof.count == 16 && parsed.encryptedSessionKey.count == 16 && !parsed.user.isEmpty)
        }
    }
}
