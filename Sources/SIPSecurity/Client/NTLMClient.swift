import SIPCore

/// The client side of connectionless NTLM in SIP (MS-SIPAE 3.2.5.1): signs in, signs requests, verifies messages.
public struct NTLMClient: Sendable {
    private let user: String
    private let domain: String
    private let ntHash: [UInt8]
    private let sendsIntegrityCode: Bool
    private var secrets: SecretKeys
    private var targetName = ""
    private var opaque: String?
    /// The AUTHENTICATE message until it is sent.
    private var token: String?
    private var signature: ClientSignature?
    /// Whether the last request contained an AUTHENTICATE message.
    private var hasTried = false

    /// Creates a client.
    /// - Parameters:
    ///   - secret: 32 or more random octets.
    ///   - sendsIntegrityCode: whether to send a message integrity code (MS-NLMP 3.1.5.1.2), as clients do if the challenge has a
    ///     time.
    public init(user: String, domain: String, password: String, secret: [UInt8], sendsIntegrityCode: Bool = false) {
        self.sendsIntegrityCode = sendsIntegrityCode
        self.user = user
        self.domain = domain
        ntHash = HashAlgorithm.md4.digest(UTF16LE.bytes(password))
        secrets = SecretKeys(secret)
    }

    /// Processes a 401: an NTLM offer or a CHALLENGE message.
    /// - Returns: whether to repeat the request after ``authorize(_:)``; false after an AUTHENTICATE message, because the password is
    ///   wrong.
    public mutating func receive(challenge response: SIPResponse) -> Bool {
        for line in response.headers.values(.wwwAuthenticate) {
            guard let value = AuthorizationValue(line), value.isScheme("NTLM"), value["realm"] == Authenticator.realm,
                let target = value["targetname"]
            else { continue }
            targetName = target
            signature = nil
            token = nil
            opaque = value["opaque"]
            guard let challenge = value["gssapi-data"] else { return !hasTried }
            guard let bytes = Base64.bytes(challenge) else { return false }
            return answer(bytes)
        }
        return false
    }

    private mutating func answer(_ challenge: [UInt8]) -> Bool {
        func number(_ place: Int, _ count: Int) -> Int { (0..<count).reduce(0) { $0 | Int(challenge[place + $1]) << ($1 * 8) } }
        guard challenge.count >= 48, challenge.starts(with: NTLMMessage.signature), number(8, 4) == 2 else { return false }
        let (length, offset) = (number(40, 2), number(44, 4))
        guard offset <= challenge.count, length <= challenge.count - offset else { return false }
        var info = Array(challenge[offset..<offset + length])
        if sendsIntegrityCode { info.insert(contentsOf: [6, 0, 4, 0, 2, 0, 0, 0], at: 0) }
        let temp =
            [1, 1, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 8) + secrets.draw(8) + [0, 0, 0, 0] + info + [0, 0, 0, 0]
        let key = NTLMv2.responseKey(ntHash: ntHash, user: user, domain: domain)
        let proof = NTLMv2.proof(responseKey: key, serverChallenge: Array(challenge[24..<32]), temp: temp)
        let exported = secrets.draw(16)
        let sealed = RC4.apply(exported, key: HashAlgorithm.md5.authenticationCode(proof, key: key))
        var message = Self.message([proof + temp, UTF16LE.bytes(domain), UTF16LE.bytes(user), sealed])
        if sendsIntegrityCode {
            message.replaceSubrange(72..<88, with: HashAlgorithm.md5.authenticationCode(challenge + message, key: exported))
        }
        token = Base64.text(message)
        signature = ClientSignature(.ntlm(NTLMSessionKeys(exportedSessionKey: exported)), targetName: targetName)
        return true
    }

    /// An AUTHENTICATE message with NT response, domain, user and session key. LM response and workstation are empty; the integrity
    /// code is zero.
    private static func message(_ parts: [[UInt8]]) -> [UInt8] {
        var fields: [UInt8] = []
        var payload: [UInt8] = []
        for part in [[], parts[0], parts[1], parts[2], [], parts[3]] {
            let length = [UInt8(truncatingIfNeeded: part.count), UInt8(truncatingIfNeeded: part.count >> 8)]
            fields += length + length + NTLMMessage.word(UInt32(88 + payload.count))
            payload += part
        }
        return NTLMMessage.signature + NTLMMessage.word(3) + fields + NTLMMessage.word(NTLMFlags.offered.rawValue)
            + [6, 1, 0, 0, 0, 0, 0, 15] + [UInt8](repeating: 0, count: 16) + payload
    }

    /// Sets Authorization to the next step of the sign-in, or to a signature; does nothing before the first offer.
    public mutating func authorize(_ request: inout SIPRequest) {
        guard !targetName.isEmpty else { return }
        var value = ClientSignature.head("NTLM", targetName: targetName, opaque: opaque)
        if let signed = signature?.parameters(for: request.headers, random: secrets.draw(4)) {
            hasTried = token != nil
            if let token { value += ", gssapi-data=\"\(token)\", version=4" }
            token = nil
            value += signed
        } else {
            hasTried = false
            value += ", gssapi-data=\"\", version=4"
        }
        request.headers.set(.authorization, value)
    }

    /// Whether the server signed this message with the keys of this sign-in.
    /// - Parameter status: The status of a response; nil for a request.
    public func verifies(_ message: SIPHeaders, status: SIPStatus?) -> Bool {
        signature?.verifies(message, status: status, opaque: opaque) ?? false
    }
}
