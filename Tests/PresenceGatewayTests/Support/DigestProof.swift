import SIPSecurity

/// What a server computes of the credentials of a client (RFC 7616 3.4.1), written a second time.
enum DigestProof {
    static func response(
        _ algorithm: HashAlgorithm, user: String, realm: String, password: String, method: String, uri: String, nonce: String,
        counter: String, cnonce: String
    ) -> String {
        func hash(_ text: String) -> String { algorithm.hexDigest(text) }
        return hash("\(hash("\(user):\(realm):\(password)")):\(nonce):\(counter):\(cnonce):auth:\(hash("\(method):\(uri)"))")
    }
}
