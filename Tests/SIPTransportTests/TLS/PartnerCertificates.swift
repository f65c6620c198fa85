import SIPCore
import SIPSecurity
import SIPTransport
import ThrowAwayCertificates

/// Certificates of temporary authorities, made once by OpenSSL's command; no private key stays on disk.
struct PartnerCertificates: Sendable {
    static let made = Result { try PartnerCertificates() }

    private let files: [String: [UInt8]]

    private init() throws { files = try ThrowAwayCertificates.partners.files() }

    subscript(_ file: String) -> [UInt8] { files[file]! }

    func certificates(_ name: String) -> [Certificate] { Certificate.all(inPEM: self[name + ".pem"]) }

    /// An identity, valid on its first day even when it has expired since.
    func identity(_ name: String) throws -> TLSSettings.Identity {
        let first = certificates(name)[0].notBefore
        return try TLSSettings.Identity(
            chainPEM: self[name + ".pem"], keyPEM: self[name + ".key"], at: Instant(secondsSince1970: first + 1))
    }

    /// Settings with this identity that trust only the first authority.
    func settings(_ name: String, names: [String: String] = [:]) throws -> TLSSettings {
        TLSSettings(
            identity: try identity(name), names: try names.mapValues { try identity($0) },
            roots: [PeerIdentity.commonRoots: certificates("authority")])
    }
}
