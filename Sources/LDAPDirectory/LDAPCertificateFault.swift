import Foundation
import SIPCore
import SIPSecurity

/// Explains why the certificate of a directory server is refused, because libldap reports "Connect error" for every cause.
extension LDAPSettings {
    /// Whether the URL has the scheme `ldaps`, so that TLS starts with the connection.
    var isSecureFromTheStart: Bool { url.lowercased().hasPrefix("ldaps:") }

    /// The host of the URL in lower case, without brackets; empty if the URL has none.
    var host: String {
        let host = URLComponents(string: url)?.host?.lowercased() ?? ""
        return host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    }

    /// The result of an examination of a refused certificate.
    enum CertificateFinding: Hashable {
        /// A fault of the certificate, which is the cause of the refusal.
        case fault(String)
        /// No fault was found. The text names what was examined and what was not, and goes with the error of libldap.
        case unknown(String)
    }

    /// Examines the server's own certificate: validity, name, then trust.
    ///
    /// The intermediate certificates of the server and the system's roots are not available here. An issuer that is no root of
    /// ``trust`` is therefore no fault: an intermediate certificate may be the link.
    func finding(in certificate: Certificate, at now: Instant) -> CertificateFinding {
        let subject = "the server's certificate \(certificate)"
        if certificate.notAfter < now.secondsSince1970 {
            return .fault("\(subject) has expired: it ended \(Self.text(certificate.notAfter))")
        }
        if certificate.notBefore > now.secondsSince1970 {
            return .fault("\(subject) is not yet valid: it begins \(Self.text(certificate.notBefore))")
        }
        guard covers(certificate) else { return .fault("\(subject) does not prove the name \(host) (name mismatch)") }
        let examined = "\(subject) is valid now and proves the name \(host)"
        guard let trust else {
            return .unknown("\(examined); its issuer \(certificate.issuer) was not compared with the system's roots")
        }
        guard let text = FileManager.default.contents(atPath: trust) else {
            return .fault("the file \(trust) of trusted roots cannot be read")
        }
        guard let anchors = TrustAnchors(Certificate.all(inPEM: Array(text))) else {
            return .fault("the file \(trust) of trusted roots holds no certificate")
        }
        do throws(ChainRefusal) {
            try anchors.verify([certificate], as: .server, at: now)
            return .unknown("\(examined) and is issued by a root of \(trust)")
        } catch {
            switch error.rule {
            case .selfSigned:
                return .fault("\(subject) is not trusted: it is self-signed and no root of \(trust) (unknown CA)")
            case .unknownRoot:
                return .unknown(
                    "\(examined); its issuer \(certificate.issuer) is no root of \(trust), and the server's intermediate certificates "
                        + "were not examined")
            default: return .fault("\(subject) is refused: \(error)")
            }
        }
    }

    /// Whether the certificate proves the host (RFC 4513 3.1.3).
    private func covers(_ certificate: Certificate) -> Bool {
        if certificate.addresses.contains(host) { return true }
        let names = certificate.hasAlternativeNames ? certificate.dnsNames : certificate.commonName.map { [$0] } ?? []
        return names.contains { name in
            guard name.hasPrefix("*.") else { return name == host }
            return host.split(separator: ".", maxSplits: 1).dropFirst().first.map { $0 == name.dropFirst(2) } ?? false
        }
    }

    private static func text(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: TimeInterval(seconds)).ISO8601Format()
    }
}

/// The wall clock.
enum HostMoment {
    static var now: Instant { Instant(secondsSince1970: Int64(Date().timeIntervalSince1970)) }
}
