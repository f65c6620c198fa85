import SIPCore

/// Hash functions of Digest (RFC 7616 6.1, RFC 8760 2.1); the raw value is the token of `algorithm`.
public enum DigestAlgorithm: String, Hashable, Sendable, CaseIterable {
    case md5 = "MD5"
    case sha256 = "SHA-256"

    var hash: HashAlgorithm { self == .md5 ? .md5 : .sha256 }
}

/// Digest credentials of a request, with qop `auth`, or `auth-int` where it is offered (RFC 7616 3.4).
struct DigestCredentials {
    var user: String
    var realm: String
    var nonce: String
    var uri: String
    var response: [UInt8]
    var algorithm: DigestAlgorithm
    /// Whether the content is covered (qop `auth-int`).
    var coversBody: Bool
    var cnonce: String
    /// The counter as received, for the hash: 8 hexadecimal digits.
    var counterText: String
    var counter: UInt32

    /// The reason credentials are malformed; the raw value names the rule.
    enum Problem: String, Error {
        case missing = "RFC 7616 3.4: username, realm, nonce, uri and response are required"
        case qop = "RFC 7616 3.4: qop must be auth, with cnonce and an nc of 8 hexadecimal digits"
        case algorithm = "RFC 7616 3.4: algorithm must be one of the challenge"
        case response = "RFC 7616 3.4: response must be the hash in hexadecimal digits"
    }

    /// - Parameter allowsBody: whether qop `auth-int` was offered.
    init(_ value: AuthorizationValue, allowsBody: Bool = false) throws(Problem) {
        guard let user = value["username"], let realm = value["realm"], let nonce = value["nonce"], let uri = value["uri"],
            let response = value["response"]
        else { throw .missing }
        let qop = value["qop"]?.lowercased()
        guard qop == "auth" || allowsBody && qop == "auth-int", let cnonce = value["cnonce"], let counterText = value["nc"],
            counterText.utf8.count == 8,
            let counter = UInt32(counterText, radix: 16)
        else { throw .qop }
        let name = (value["algorithm"] ?? "MD5").uppercased()
        guard let algorithm = DigestAlgorithm(rawValue: name) else { throw .algorithm }
        guard let bytes = Hexadecimal.bytes(response), bytes.count == (algorithm == .md5 ? 16 : 32) else { throw .response }
        self.user = user
        self.realm = realm
        self.nonce = nonce
        self.uri = uri
        self.response = bytes
        self.algorithm = algorithm
        coversBody = qop == "auth-int"
        self.cnonce = cnonce
        self.counterText = counterText
        self.counter = counter
    }

    /// The response expected from a client that knows the password (RFC 7616 3.4.1).
    /// - Parameter userHash: H(A1) with this algorithm.
    func expectedResponse(userHash: [UInt8], method: SIPMethod) -> [UInt8] {
        expectedResponse(userHash: userHash, method: method.rawValue, body: [])
    }

    /// The same for a method of any protocol; `body` is the content, for qop `auth-int`.
    func expectedResponse(userHash: [UInt8], method: String, body: [UInt8]) -> [UInt8] {
        let content = coversBody ? ":\(Hexadecimal.text(algorithm.hash.digest(body)))" : ""
        let target = algorithm.hash.hexDigest("\(method):\(uri)\(content)")
        let qop = coversBody ? "auth-int" : "auth"
        return algorithm.hash.digest("\(Hexadecimal.text(userHash)):\(nonce):\(counterText):\(cnonce):\(qop):\(target)".utf8)
    }

    /// Whether the credentials belong to this request (RFC 7616 3.4.6).
    ///
    /// One client sends `(null)`, the printed form of an empty variable, for every request; it is accepted.
    func names(_ request: SIPRequest) -> Bool {
        if uri == request.requestURI || uri == "(null)" { return true }
        guard let named = SIPURI(uri) else { return false }
        return named.isEquivalent(to: request.uri)
    }
}
