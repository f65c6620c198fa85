/// The keys of an association that a TLS handshake made, and the signatures made with them (MS-SIPAE 3.2.5.1).
///
/// Of the 128 octets that TLS's pseudo-random function makes with the label `client EAP encryption` (RFC 5216 2.3), the third quarter is the
/// client's key and the fourth the server's. A signature is the keyed hash with the hash function of the cipher suite.
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

    /// As long as the hash: 20 octets for SHA-1, 32 for SHA-256.
    func signature(of text: String, _ direction: SigningDirection) -> [UInt8] {
        hash.authenticationCode(text.utf8, key: direction == .clientToServer ? client : server)
    }
}

extension TLSDSKKeys: CustomStringConvertible, CustomReflectable {
    var description: String { "TLSDSKKeys(hidden)" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
