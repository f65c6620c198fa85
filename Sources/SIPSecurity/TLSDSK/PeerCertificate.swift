import COpenSSL
import SIPCore

/// The names and expiry of a peer's verified certificate.
struct PeerCertificate: Hashable, Sendable {
    /// URIs and DNS names of subjectAltName; also the common name if there is no URI.
    let names: [String]
    let end: Instant

    /// Whether the certificate belongs to a user: one of its names is the user's SIP URI, with or without `sip:`.
    ///
    /// - Parameter identity: The `aorKey` of the user.
    func names(user identity: String) -> Bool {
        names.contains { name in
            let uri = name.lowercased().hasPrefix("sip:") || name.lowercased().hasPrefix("sips:") ? name : "sip:" + name
            return name.contains("@") && SIPURI(uri)?.aorKey == identity
        }
    }

    /// Whether the certificate belongs to a server: one of its names is this host, ignoring case.
    func names(host: String) -> Bool { names.contains { $0.lowercased() == host.lowercased() } }

    /// - Parameter certificate: Not freed.
    init?(_ certificate: OpaquePointer) {
        guard let end = X509Fields.seconds(X509_get0_notAfter(certificate)) else { return nil }
        self.end = Instant(secondsSince1970: end)
        let alternatives = X509Fields.alternativeNames(of: certificate)
        let common = alternatives.uris.isEmpty ? X509Fields.commonName(of: certificate) : nil
        names = alternatives.uris + alternatives.hosts + (common.map { [$0] } ?? [])
    }
}
