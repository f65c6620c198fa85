import COpenSSL
import SIPCore

/// What a peer's certificate says, once it has been verified.
struct PeerCertificate: Hashable, Sendable {
    /// URIs and DNS names of the subject's alternative names; where there is no URI, the common name, too.
    let names: [String]
    let end: Instant

    /// Whether the certificate is a user's: one of its names is his SIP URI, with or without `sip:`.
    ///
    /// - Parameter identity: The key of an address of record.
    func names(user identity: String) -> Bool {
        names.contains { name in
            let uri = name.lowercased().hasPrefix("sip:") || name.lowercased().hasPrefix("sips:") ? name : "sip:" + name
            return name.contains("@") && SIPURI(uri)?.aorKey == identity
        }
    }

    /// Whether the certificate is a server's: one of its names is this host, case aside.
    func names(host: String) -> Bool { names.contains { $0.lowercased() == host.lowercased() } }

    /// - Parameter certificate: Stays the caller's.
    init?(_ certificate: OpaquePointer) {
        guard let end = X509Fields.seconds(X509_get0_notAfter(certificate)) else { return nil }
        self.end = Instant(secondsSince1970: end)
        let alternatives = X509Fields.alternativeNames(of: certificate)
        let common = alternatives.uris.isEmpty ? X509Fields.commonName(of: certificate) : nil
        names = alternatives.uris + alternatives.hosts + (common.map { [$0] } ?? [])
    }
}
