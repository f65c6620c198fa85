import SIPCore
import SIPSecurity

/// Answers authentication challenges: with Digest where it is offered, else with NTLM.
struct ClientSignIn: Sendable {
    private var digest: DigestClient
    private var ntlm: NTLMClient
    private var scheme: Scheme?

    private enum Scheme { case digest, ntlm }

    /// - Parameters:
    ///   - user: Name to sign in with, without a domain.
    ///   - domain: SIP domain of the user.
    ///   - secret: 32 random octets of the system.
    init(user: String, domain: String, password: String, secret: [UInt8]) {
        digest = DigestClient(user: user, password: password, secret: secret)
        ntlm = NTLMClient(user: user, domain: domain, password: password, secret: secret.map { ~$0 })
    }

    /// Processes a 401 or 407; returns whether a repetition is useful.
    mutating func receive(challenge response: SIPResponse) -> Bool {
        if scheme != .ntlm, digest.receive(challenge: response) {
            scheme = .digest
            return true
        }
        guard scheme != .digest, ntlm.receive(challenge: response) else { return false }
        scheme = .ntlm
        return true
    }

    /// Adds credentials to a request, after a first challenge.
    mutating func authorize(_ request: inout SIPRequest) {
        switch scheme {
        case .digest: digest.authorize(&request)
        case .ntlm: ntlm.authorize(&request)
        case nil: break
        }
    }
}
