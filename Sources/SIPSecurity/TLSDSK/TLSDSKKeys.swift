/// The signing keys derived from a TLS handshake (MS-SIPAE 3.2.5.1).
///
/// TLS exports 128 octets with the label `client EAP encryption` (RFC 5216 2.3): octets 64 to 95 are the client's key, 96 to 127 the
/// server's. A signature is an HMAC with the hash function of the cipher suite.
struct TLSDSKKeys: Hashable, Sendable {
    static let label = "client EAP encryption"
    static let materialLength = 128

    let hash: HashAlgorithm
    private let client: [UInt8]
    private let server: [UInt8]

    /// - Parameter material: ``materialLength`` octets.
    init(material: [UInt8], hash: HashAlgorithm) {
        precondition(material.count == Self.materialLength, "MS-SIPAE 3.2.5.1: key material is 128 octets")
        self.hash = hash
        client = Array(material[64..<96])
        server = Array(material[96..<128])
    }

    /// Signs a text; 20 octets with SHA-1, 32 with SHA-256.
    func signature(of text: String, _ direction: SigningDirection) -> [UInt8] {
        hash.authenticationCode(text.utf8, key: direction == .clientToServer ? client : server)
    }
}

extension TLSDSKKeys: CustomStringConvertible, CustomReflectable {
    var description: String { "TLSDSKKeys(hidden)" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
