import SIPSecurity

/// Files for TLS-DSK, all in PEM form.
package struct TLSDSKFiles: Hashable, Sendable {
    var certificate: String
    var key: String
    var clientAuthority: String
    /// URL of the certificate service that clients are referred to.
    var certificateService: String?

    /// Reads the files.
    /// - Throws: `ServiceFailure` naming key, file and rule.
    package func load() throws(ServiceFailure) -> TLSDSKOffer {
        let texts = try [("certificate", certificate), ("key", key), ("client-ca", clientAuthority)].map {
            (name: String, path: String) throws(ServiceFailure) in
            do throws(ServiceFailure) {
                return try InputFile.read(path)
            } catch {
                throw ServiceFailure("tls-dsk.\(name): \(error.lines.joined(separator: "; "))")
            }
        }
        do throws(TLSDSKCredentials.Problem) {
            return TLSDSKOffer(
                credentials: try TLSDSKCredentials(certificate: texts[0], key: texts[1], clientAuthority: texts[2]),
                certificateService: certificateService)
        } catch {
            let (name, path) =
                switch error.field {
                case .certificate: ("certificate", certificate)
                case .key: ("key", key)
                case .authority: ("client-ca", clientAuthority)
                }
            throw ServiceFailure("tls-dsk.\(name): \(path): \(error.reason)")
        }
    }
}
