/// Negotiated options of NTLM (MS-NLMP 2.2.2.5).
struct NTLMFlags: OptionSet, Hashable, Sendable {
    let rawValue: UInt32

    static let unicode = NTLMFlags(rawValue: 0x0000_0001)
    static let requestTarget = NTLMFlags(rawValue: 0x0000_0004)
    static let sign = NTLMFlags(rawValue: 0x0000_0010)
    static let datagram = NTLMFlags(rawValue: 0x0000_0040)
    static let ntlm = NTLMFlags(rawValue: 0x0000_0200)
    static let alwaysSign = NTLMFlags(rawValue: 0x0000_8000)
    static let extendedSessionSecurity = NTLMFlags(rawValue: 0x0008_0000)
    static let identify = NTLMFlags(rawValue: 0x0010_0000)
    static let targetInfo = NTLMFlags(rawValue: 0x0080_0000)
    static let version = NTLMFlags(rawValue: 0x0200_0000)
    static let key128 = NTLMFlags(rawValue: 0x2000_0000)
    static let keyExchange = NTLMFlags(rawValue: 0x4000_0000)

    /// Flags of our challenges: connectionless, signed, 128 bits (MS-SIPAE 3.3.5.1).
    static let offered: NTLMFlags = [
        .unicode, .requestTarget, .sign, .datagram, .ntlm, .alwaysSign, .extendedSessionSecurity, .identify, .targetInfo, .version,
        .key128, .keyExchange,
    ]

    /// Flags that a client must set: NTLMv2 session security with 128-bit keys.
    static let required: NTLMFlags = [.unicode, .sign, .extendedSessionSecurity, .key128, .keyExchange]
}
