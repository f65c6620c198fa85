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

    /// The first fault found in the server's certificate: validity, name, then trust; nil if none is found. With ``trust`` set, only
    /// the certificate itself is verified, without intermediate certificates of the server. Without ``trust``, the remaining cause is
    /// taken to be an unknown CA.
    func fault(of certificate: Certificate, at now: Instant) -> String? {
        let subject = "the server's certificate \(certificate)"
        if certificate.notAfter < now.secondsSince1970 {
            return "\(subject) has expired: it ended \(Self.text(certificate.notAfter))"
        }
        if certificate.notBefore > now.secondsSince1970 {
            return "\(subject) is not yet valid: it begins \(Self.text(certificate.notBefore))"
        }
        guard covers(certificate) else { return "\(subject) does not prove the name \(host) (name mismatch)" }
        if let trust {
            guard let text = FileManager.default.contents(atPath: trust) else { return "the file \(trust) of trusted roots cannot be read" }
            guard let anchors = TrustAnchors(Certificate.all(inPEM: Array(text))) else {
                return "the file \(trust) of trusted roots holds no certificate"
            }
            do throws(ChainRefusal) {
                try anchors.verify([certificate], as: .server, at: now)
            } catch {
                switch error.rule {
                case .unknownRoot, .selfSigned:
                    return "\(subject) is not trusted: its issuer \(certificate.issuer) leads to no valid root of \(trust) (unknown CA)"
                default: return "\(subject) is refused: \(error.reason)"
                }
            }
        }
        return trust == nil ? "\(subject), issued by \(certificate.issuer), is not trusted by the system's roots (unknown CA)" : nil
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
