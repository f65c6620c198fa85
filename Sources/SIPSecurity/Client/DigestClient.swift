import SIPCore

/// The client side of Digest (RFC 7616 3.4): answers challenges and reuses their nonces until the next challenge.
public struct DigestClient: Sendable {
    private let user: String
    private let password: String
    private let cnonce: String
    /// Challenges by realm and header, because proxies and servers on the path have their own (RFC 3261 22.3).
    private var challenges: [Challenge] = []

    private static let challengeLimit = 4

    private struct Challenge {
        var realm: String
        var nonce: String
        var opaque: String?
        var algorithm: DigestAlgorithm
        var header: SIPHeaderName
        /// Whether the challenge has `qop`; without it there is no counter (RFC 7616 3.4).
        var hasProtection: Bool
        /// Number of requests with this nonce.
        var counter: UInt32 = 0
    }

    /// Creates a client with a random client nonce.
    /// - Parameter secret: 32 or more random octets.
    public init(user: String, password: String, secret: [UInt8]) {
        var keys = SecretKeys(secret)
        self.init(user: user, password: password, cnonce: Hexadecimal.text(keys.draw(8)))
    }

    /// Creates a client.
    /// - Parameter cnonce: The client nonce, a random token.
    public init(user: String, password: String, cnonce: String) {
        self.user = user
        self.password = password
        self.cnonce = cnonce
    }

    /// Processes a 401 or 407.
    /// - Returns: whether to repeat the request: the response offers Digest with a known algorithm, and does not reject the
    ///   credentials just sent.
    public mutating func receive(challenge response: SIPResponse) -> Bool {
        guard let value = Self.offer(in: response) else { return false }
        let header = Self.header(response)
        let wasTried =
            challenges.contains { $0.realm == value.parameters["realm"] && $0.header == header }
            && value.parameters["stale"]?.lowercased() != "true"
        return learn(from: response) && !wasTried
    }

    /// Takes over the nonce of a 401 or 407, also if it rejects the credentials.
    /// - Returns: whether the response offers Digest with a known algorithm and, if it lists `qop`, with `auth`.
    public mutating func learn(from response: SIPResponse) -> Bool {
        guard let (value, algorithm) = Self.offer(in: response), let realm = value["realm"], let nonce = value["nonce"] else {
            return false
        }
        let header = Self.header(response)
        let known = challenges.first { $0.realm == realm && $0.header == header }
        challenges.removeAll { $0.realm == realm && $0.header == header }
        if challenges.count >= Self.challengeLimit { challenges.removeFirst() }
        var challenge = Challenge(
            realm: realm, nonce: nonce, opaque: value["opaque"], algorithm: algorithm, header: header, hasProtection: value["qop"] != nil)
        if let known, known.nonce == nonce { challenge.counter = known.counter }
        challenges.append(challenge)
        return true
    }

    private static func header(_ response: SIPResponse) -> SIPHeaderName {
        response.status == .proxyAuthenticationRequired ? .proxyAuthorization : .authorization
    }

    /// The first usable offer: servers list the preferred one first (RFC 8760 2.4).
    private static func offer(in response: SIPResponse) -> (parameters: AuthorizationValue, algorithm: DigestAlgorithm)? {
        let isProxy = response.status == .proxyAuthenticationRequired
        for line in response.headers.values(isProxy ? .proxyAuthenticate : .wwwAuthenticate) {
            guard let value = AuthorizationValue(line), value.isScheme("Digest"), value["realm"] != nil, value["nonce"] != nil,
                let algorithm = DigestAlgorithm(rawValue: (value["algorithm"] ?? "MD5").uppercased())
            else { continue }
            let protections = value["qop"]?.lowercased().split(separator: ",").map { $0.filter { $0 != " " } }
            guard protections?.contains("auth") ?? true else { continue }
            return (value, algorithm)
        }
        return nil
    }

    /// Adds credentials for every known challenge; none before the first challenge. The counter of a nonce grows by 1 per request.
    public mutating func authorize(_ request: inout SIPRequest) {
        var isFirst: Set<SIPHeaderName> = [.authorization, .proxyAuthorization]
        for index in challenges.indices {
            let header = challenges[index].header
            let value = credentials(for: request, at: index)
            if isFirst.remove(header) != nil { request.headers.set(header, value) } else { request.headers.append(header, value) }
        }
    }

    private mutating func credentials(for request: SIPRequest, at index: Int) -> String {
        challenges[index].counter += 1
        let challenge = challenges[index]
        let digits = String(challenge.counter, radix: 16)
        let counterText = String(repeating: "0", count: max(8 - digits.count, 0)) + digits
        let hash = challenge.algorithm.hash
        let userHash = hash.hexDigest("\(user):\(challenge.realm):\(password)")
        let target = hash.hexDigest("\(request.method.rawValue):\(request.requestURI)")
        let middle = challenge.hasProtection ? "\(challenge.nonce):\(counterText):\(cnonce):auth" : challenge.nonce
        let proof = hash.hexDigest("\(userHash):\(middle):\(target)")
        var value =
            "Digest username=\"\(Self.quoted(user))\", realm=\"\(Self.quoted(challenge.realm))\", nonce=\"\(Self.quoted(challenge.nonce))\", "
            + "uri=\"\(request.requestURI)\", response=\"\(proof)\", algorithm=\(challenge.algorithm.rawValue)"
        if challenge.hasProtection { value += ", cnonce=\"\(cnonce)\", qop=auth, nc=\(counterText)" }
        if let opaque = challenge.opaque { value += ", opaque=\"\(Self.quoted(opaque))\"" }
        return value
    }

    /// The content of a quoted string, escaped (RFC 3261 25.1).
    private static func quoted(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }
}
