/// An AUTHENTICATE message with an NTLMv2 response (MS-NLMP 2.2.1.3, 2.2.2.8); all lengths and offsets are checked.
///
/// Messages without the required flags are refused. The message integrity code is checked if the response announces one (MS-NLMP
/// 3.2.5.1.2); clients of version 4 also sign the REGISTER that carries this message with the resulting keys (MS-SIPAE 3.2.5.1).
struct NTLMAuthenticate: Hashable, Sendable {
    static let lengthLimit = 8_192

    /// The reason a message is refused; the raw value names the rule.
    enum Problem: String, Error {
        case header = "MS-NLMP 2.2.1.3: not an AUTHENTICATE message of at most 8192 octets"
        case field = "MS-NLMP 2.2.1.3: a field lies outside the AUTHENTICATE message"
        case text = "MS-NLMP 2.2.1.3: user or domain name is not UTF-16 of at most 256 characters"
        case flags = "MS-NLMP 2.2.2.5: signing, extended session security, 128-bit keys and key exchange are required"
        case response = "MS-NLMP 2.2.2.8: the NT response is not of version 2"
        case code = "MS-NLMP 3.2.5.1.2: the response announces a message integrity code, and there is none"
        case key = "MS-NLMP 2.2.1.3: the encrypted session key is not 16 octets"
    }

    let user: String
    let domain: String
    /// The NT proof: the first 16 octets of the NT response.
    let proof: [UInt8]
    /// The input of the proof besides the server challenge.
    let temp: [UInt8]
    /// The session key, 16 octets, encrypted with the session base key.
    let encryptedSessionKey: [UInt8]
    /// The message integrity code with its input; nil if the response announces none.
    let integrity: Integrity?

    struct Integrity: Hashable, Sendable {
        var code: [UInt8]
        /// The message with zeros in place of the code.
        var message: [UInt8]
    }

    private static let codePlace = 72..<88

    init(_ message: [UInt8]) throws(Problem) {
        guard message.count >= 64, message.count <= Self.lengthLimit, message.starts(with: NTLMMessage.signature),
            Self.word(message, at: 8) == 3
        else { throw .header }
        guard NTLMFlags(rawValue: Self.word(message, at: 60)).isSuperset(of: .required) else { throw .flags }
        let response = try Self.field(message, at: 20)
        guard let domain = UTF16LE.text(try Self.field(message, at: 28)), let user = UTF16LE.text(try Self.field(message, at: 36)),
            domain.count <= 256, (1...256).contains(user.count)
        else { throw .text }
        self.user = user
        self.domain = domain
        // 16 octets proof; then 2 version, 6 reserved, 8 time, 8 client challenge, 4 reserved, and the 4 that end the attributes.
        guard response.count >= 16 + 32, response[16] == 1, response[17] == 1 else { throw .response }
        proof = Array(response.prefix(16))
        temp = Array(response.dropFirst(16))
        encryptedSessionKey = Array(try Self.field(message, at: 52))
        guard encryptedSessionKey.count == 16 else { throw .key }
        guard Self.announcesCode(temp) else {
            integrity = nil
            return
        }
        guard message.count >= Self.codePlace.upperBound else { throw .code }
        var without = message
        without.replaceSubrange(Self.codePlace, with: [UInt8](repeating: 0, count: Self.codePlace.count))
        integrity = Integrity(code: Array(message[Self.codePlace]), message: without)
    }

    /// Whether MsvAvFlags in the attributes of the response (MS-NLMP 2.2.2.1) announces an integrity code.
    private static func announcesCode(_ temp: [UInt8]) -> Bool {
        var place = 28
        while place + 4 <= temp.count {
            let (id, length) = (temp[place], Int(temp[place + 2]) | Int(temp[place + 3]) << 8)
            guard id != 0, length <= temp.count - place - 4 else { return false }
            if id == 6, length == 4 { return temp[place + 4] & 2 != 0 }
            place += 4 + length
        }
        return false
    }

    /// Whether the integrity code matches this message and challenge (MS-NLMP 3.1.5.1.2); true if there is none.
    func isIntact(challenge: [UInt8], exportedSessionKey: [UInt8]) -> Bool {
        guard let integrity else { return true }
        let code = HashAlgorithm.md5.authenticationCode(challenge + integrity.message, key: exportedSessionKey)
        return ConstantTime.equal(code, integrity.code)
    }

    /// Reads a payload field: length, allocated length, offset.
    private static func field(_ message: [UInt8], at place: Int) throws(Problem) -> [UInt8] {
        let length = Int(message[place]) | Int(message[place + 1]) << 8
        let offset = Int(word(message, at: place + 4))
        guard offset <= message.count, length <= message.count - offset else { throw .field }
        return Array(message[offset..<offset + length])
    }

    private static func word(_ message: [UInt8], at place: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(message[place + $1]) << UInt32($1 * 8) }
    }
}
