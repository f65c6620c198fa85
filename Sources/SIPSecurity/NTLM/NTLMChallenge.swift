/// The CHALLENGE message of connectionless NTLM (MS-NLMP 2.2.1.2); no NEGOTIATE message precedes it (MS-NLMP 1.3.1.3).
struct NTLMChallenge {
    /// 8 unpredictable octets.
    var serverChallenge: [UInt8]
    /// The SIP domain of the user.
    var domain: String
    /// The host name of this server.
    var server: String

    /// The short name of a domain or host: its first label in upper case, at most 15 characters.
    static func shortName(_ name: String) -> String {
        String((name.split(separator: ".").first ?? "").uppercased().prefix(15))
    }

    func encoded() -> [UInt8] {
        let target = UTF16LE.bytes(Self.shortName(domain))
        let info =
            Self.pair(2, Self.shortName(domain)) + Self.pair(1, Self.shortName(server)) + Self.pair(4, domain) + Self.pair(3, server)
            + [0, 0, 0, 0]
        var message = NTLMMessage.signature + NTLMMessage.word(2)
        message += Self.field(target.count, at: 56) + NTLMMessage.word(NTLMFlags.offered.rawValue) + serverChallenge
        message += [UInt8](repeating: 0, count: 8) + Self.field(info.count, at: 56 + target.count)
        // The version of the message format, NTLM revision 15 (MS-NLMP 2.2.2.10).
        message += [6, 1, 0, 0, 0, 0, 0, 15]
        return message + target + info
    }

    /// One AV_PAIR (MS-NLMP 2.2.2.1).
    private static func pair(_ id: UInt8, _ text: String) -> [UInt8] {
        let value = UTF16LE.bytes(String(text.prefix(255)))
        return [id, 0, UInt8(truncatingIfNeeded: value.count), UInt8(truncatingIfNeeded: value.count >> 8)] + value
    }

    private static func field(_ length: Int, at offset: Int) -> [UInt8] {
        let short = [UInt8(truncatingIfNeeded: length), UInt8(truncatingIfNeeded: length >> 8)]
        return short + short + NTLMMessage.word(UInt32(offset))
    }
}

/// Parts common to all NTLM messages (MS-NLMP 2.2.1).
enum NTLMMessage {
    static let signature: [UInt8] = Array("NTLMSSP".utf8) + [0]

    /// 32 bits, little-endian.
    static func word(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt32($0 * 8)) } }
}
