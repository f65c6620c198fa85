import SIPCore
import SIPSecurity

/// Signs a client in when it is challenged: by Digest where that is offered, else by NTLM.
struct ClientSignIn: Sendable {
    private var digest: DigestClient
    private var ntlm: NTLMClient
    private var scheme: Scheme?

    private enum Scheme { case digest, ntlm }

    /// - Parameters:
    ///   - user: the name to sign in with, without a domain.
    ///   - domain: the SIP domain.
    ///   - secret: 32 octets of the system's randomness.
    init(user: String, domain: String, password: String, secret: [UInt8]) {
        digest = DigestClient(user: user, password: password, secret: secret)
        ntlm = NTLMClient(user: user, domain: domain, password: password, secret: secret.map { ~$0 })
    }

    /// Takes a 401 or 407 in; whether it is worth trying again.
    mutating func receive(challenge response: SIPResponse) -> Bool {
        if scheme != .ntlm, digest.receive(challenge: response) {
            scheme = .digest
            return true
        }
        guard scheme != .digest, ntlm.receive(challenge: response) else { return false }
        scheme = .ntlm
        return true
    }

    /// Puts credentials on a request once a challenge has been seen.
    mutating func authorize(_ request: inout SIPRequest) {
        switch scheme {
        case .digest: digest.authorize(&request)
        case .ntlm: ntlm.authorize(&request)
        case nil: break
        }
    }
}
