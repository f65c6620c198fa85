/// The computations of NTLMv2 (MS-NLMP 3.3.2, 3.4.5).
enum NTLMv2 {
    /// NTOWFv2: the key of a response.
    static func responseKey(ntHash: [UInt8], user: String, domain: String) -> [UInt8] {
        HashAlgorithm.md5.authenticationCode(UTF16LE.bytes(user.uppercased()) + UTF16LE.bytes(domain), key: ntHash)
    }

    static func proof(responseKey: [UInt8], serverChallenge: [UInt8], temp: [UInt8]) -> [UInt8] {
        HashAlgorithm.md5.authenticationCode(serverChallenge + temp, key: responseKey)
    }

    /// The exported session key if the response was computed from the password with this hash; otherwise nil.
    static func exportedSessionKey(_ message: NTLMAuthenticate, ntHash: [UInt8], serverChallenge: [UInt8]) -> [UInt8]? {
        let key = responseKey(ntHash: ntHash, user: message.user, domain: message.domain)
        let expected = proof(responseKey: key, serverChallenge: serverChallenge, temp: message.temp)
        let baseKey = HashAlgorithm.md5.authenticationCode(expected, key: key)
        let exported = RC4.apply(message.encryptedSessionKey, key: baseKey)
        return ConstantTime.equal(expected, message.proof) ? exported : nil
    }
}

/// The keys of an association and their signatures (MS-NLMP 3.4.4.2, 3.4.5.2, 3.4.5.3; MS-SIPAE 3.1.4.1).
struct NTLMSessionKeys: Hashable, Sendable {
    private let signing: [SigningDirection: [UInt8]]
    private let sealing: [SigningDirection: [UInt8]]
    /// NTLM's sequence number is the constant 100, because SIP messages carry their own number.
    private static let sequence = NTLMMessage.word(100)

    init(exportedSessionKey: [UInt8]) {
        func key(_ direction: SigningDirection, _ use: String) -> [UInt8] {
            HashAlgorithm.md5.digest(
                exportedSessionKey + Array("session key to \(direction.rawValue) \(use) key magic constant".utf8) + [0])
        }
        var signing: [SigningDirection: [UInt8]] = [:]
        var sealing: [SigningDirection: [UInt8]] = [:]
        for direction in [SigningDirection.clientToServer, .serverToClient] {
            signing[direction] = key(direction, "signing")
            sealing[direction] = key(direction, "sealing")
        }
        self.signing = signing
        self.sealing = sealing
    }

    /// Signs a text; 16 octets: version, encrypted checksum, sequence number.
    func signature(of text: String, _ direction: SigningDirection) -> [UInt8] {
        let checksum = HashAlgorithm.md5.authenticationCode(Self.sequence + Array(text.utf8), key: signing[direction] ?? [])
        let key = HashAlgorithm.md5.digest((sealing[direction] ?? []) + Self.sequence)
        return [1, 0, 0, 0] + RC4.apply(Array(checksum.prefix(8)), key: key) + Self.sequence
    }

    func key(_ direction: SigningDirection, isSealing: Bool) -> [UInt8] { (isSealing ? sealing : signing)[direction] ?? [] }
}

extension NTLMSessionKeys: CustomStringConvertible, CustomReflectable {
    var description: String { "NTLMSessionKeys(hidden)" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
