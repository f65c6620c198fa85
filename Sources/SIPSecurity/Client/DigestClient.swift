import SIPCore

/// The client's end of Digest (RFC 7616 3.4): answers a challenge, and goes on with its nonce until the next one.
public struct DigestClient: Sendable {
    private let user: String
    private let password: String
    private let cnonce: String
    private var challenge: Challenge?
    private var counter: UInt32 = 0

    private struct Challenge {
        var realm: String
        var nonce: String
        var opaque: String?
        var algorithm: DigestAlgorithm
        var header: SIPHeaderName
    }

    /// - Parameter secret: 32 octets of randomness.
    public init(user: String, password: String, secret: [UInt8]) {
        self.user = user
        self.password = password
        var keys = SecretKeys(secret)
        cnonce = Hexadecimal.text(keys.draw(8))
    }

    /// Takes a 401 or 407 in.
    /// - Returns: whether it is worth trying again: it offers Digest with a known algorithm, and does not refuse these very credentials.
    public mutating func receive(challenge response: SIPResponse) -> Bool {
        let isProxy = response.status == .proxyAuthenticationRequired
        let lines = response.headers.values(isProxy ? .proxyAuthenticate : .wwwAuthenticate)
        for value in lines.compactMap({ AuthorizationValue($0) }) where value.isScheme("Digest") {
            guard let realm = value["realm"], let nonce = value["nonce"],
                let algorithm = DigestAlgorithm(rawValue: (value["algorithm"] ?? "MD5").uppercased())
            else { continue }
            let wasTried = challenge?.realm == realm && value["stale"]?.lowercased() != "true"
            challenge = Challenge(
                realm: realm, nonce: nonce, opaque: value["opaque"], algorithm: algorithm,
                header: isProxy ? .proxyAuthorization : .authorization)
            counter = 0
            return !wasTried
        }
        return false
    }

    /// Puts credentials on a request once a challenge has been seen.
    public mutating func authorize(_ request: inout SIPRequest) {
        guard let challenge else { return }
        counter += 1
        let digits = String(counter, radix: 16)
        let counterText = String(repeating: "0", count: 8 - digits.count) + digits
        let hash = challenge.algorithm.hash
        let userHash = hash.hexDigest("\(user):\(challenge.realm):\(password)")
        let target = hash.hexDigest("\(request.method.rawValue):\(request.requestURI)")
        let proof = hash.hexDigest("\(userHash):\(challenge.nonce):\(counterText):\(cnonce):auth:\(target)")
        var value =
            "Digest username=\"\(user)\", realm=\"\(challenge.realm)\", nonce=\"\(challenge.nonce)\", uri=\"\(request.requestURI)\", "
            + "response=\"\(proof)\", algorithm=\(challenge.algorithm.rawValue), cnonce=\"\(cnonce)\", qop=auth, nc=\(counterText)"
        if let opaque = challenge.opaque { value += ", opaque=\"\(opaque)\"" }
        request.headers.set(challenge.header, value)
    }
}
