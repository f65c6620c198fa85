/// The signer of a message under an association.
enum SigningDirection: String {
    case clientToServer = "client-to-server"
    case serverToClient = "server-to-client"
}

/// The signing keys of an association by scheme (MS-SIPAE 3.1.4.1).
enum SigningKeys: Sendable {
    case ntlm(NTLMSessionKeys)
    case tlsDSK(TLSDSKKeys)

    /// The scheme name in headers.
    var scheme: String {
        switch self {
        case .ntlm: "NTLM"
        case .tlsDSK: "TLS-DSK"
        }
    }

    func signature(of text: String, _ direction: SigningDirection) -> [UInt8] {
        switch self {
        case .ntlm(let keys): keys.signature(of: text, direction)
        case .tlsDSK(let keys): keys.signature(of: text, direction)
        }
    }
}
