/// The server's secrets, derived by keyed hashes from one random value drawn at program start.
struct SecretKeys: Sendable {
    private let digestNonce: [UInt8]
    private let httpNonce: [UInt8]
    let ntlmChallenge: [UInt8]
    /// Key that replaces the verifiers of unknown users.
    let unknownUser: [UInt8]
    private let randomKey: [UInt8]
    private var drawn: UInt64 = 0

    /// - Parameter secret: 32 or more random octets from the system.
    init(_ secret: [UInt8]) {
        precondition(secret.count >= 32, "an authenticator needs 32 octets of randomness")
        func key(_ purpose: String) -> [UInt8] { HashAlgorithm.sha256.authenticationCode(purpose.utf8, key: secret) }
        digestNonce = key("Digest nonce")
        httpNonce = key("Digest nonce over HTTP")
        ntlmChallenge = key("NTLM challenge")
        unknownUser = key("unknown user")
        randomKey = key("random octets")
    }

    /// Key of the nonces for a protocol.
    func nonce(of used: Authenticator.DigestProtocol) -> [UInt8] { used == .sip ? digestNonce : httpNonce }

    /// New random octets, from 1 to 32.
    mutating func draw(_ count: Int) -> [UInt8] {
        drawn += 1
        let counter = (0..<8).map { UInt8(truncatingIfNeeded: drawn >> UInt64($0 * 8)) }
        return Array(HashAlgorithm.sha256.authenticationCode(counter, key: randomKey).prefix(count))
    }
}
