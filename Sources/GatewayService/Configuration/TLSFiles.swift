import SIPCore
import SIPSecurity
import SIPTransport

/// `tls`: files in PEM form and the names that partners must prove; read at the start and on SIGHUP.
package struct TLSFiles: Hashable, Sendable {
    /// Paths of a certificate chain, the own certificate first, and of its key.
    struct Pair: Hashable, Sendable {
        var certificate: String
        var key: String
    }

    var own: Pair
    /// Own certificates for other server names.
    var names: [String: Pair] = [:]
    /// Path of the roots for domains without roots of their own; nil trusts no such domain.
    var trust: String?
    /// Paths of roots that are trusted for one domain only, by domain.
    var domainTrust: [String: String] = [:]
    var expectations: [String: PeerExpectation] = [:]
    var expectationsWithin: [String: PeerExpectation] = [:]
    var clientExpectations: [PeerExpectation]?
    var defaultRule = PeerNameRule.domain
    var handshakeTimeout = TimeSpan.seconds(10)
    var maximumHandshakes = 1_000
    var warningTime = TimeSpan.seconds(30 * 86_400)

    /// Reads the files.
    /// - Throws: `ServiceFailure` naming key, file and rule.
    package func load(at now: Instant) throws(ServiceFailure) -> TLSSettings {
        let identity = try identity(own, key: "tls", at: now)
        var identities: [String: TLSSettings.Identity] = [:]
        for (name, pair) in names.sorted(by: { $0.key < $1.key }) {
            identities[name] = try self.identity(pair, key: "tls.names.\(name)", at: now)
        }
        var roots: [String: [Certificate]] = [:]
        if let trust { roots[PeerIdentity.commonRoots] = try certificates(trust, key: "tls.trust") }
        for (domain, path) in domainTrust.sorted(by: { $0.key < $1.key }) {
            roots[domain] = try certificates(path, key: "domains.\(domain).trust")
        }
        var settings = TLSSettings(identity: identity, names: identities, roots: roots)
        settings.expectations = expectations
        settings.expectationsWithin = expectationsWithin
        settings.clientExpectations = clientExpectations
        settings.defaultRule = defaultRule
        settings.handshakeTimeout = handshakeTimeout
        settings.maximumHandshakes = maximumHandshakes
        settings.warningTime = warningTime
        return settings
    }

    private func identity(_ pair: Pair, key: String, at now: Instant) throws(ServiceFailure) -> TLSSettings.Identity {
        let chain = try Self.read(pair.certificate, key: "\(key).certificate")
        let secret = try Self.read(pair.key, key: "\(key).key")
        do throws(TLSSettings.Identity.Problem) {
            return try TLSSettings.Identity(chainPEM: chain, keyPEM: secret, at: now)
        } catch {
            switch error {
            case .certificate(let reason): throw ServiceFailure("\(key).certificate: \(pair.certificate): \(reason)")
            case .key(let reason): throw ServiceFailure("\(key).key: \(pair.key): \(reason)")
            }
        }
    }

    private func certificates(_ path: String, key: String) throws(ServiceFailure) -> [Certificate] {
        let roots = Certificate.all(inPEM: try Self.read(path, key: key))
        guard TrustAnchors(roots) != nil else {
            throw ServiceFailure("\(key): \(path): holds no certificate in PEM form")
        }
        return roots
    }

    private static func read(_ path: String, key: String) throws(ServiceFailure) -> [UInt8] {
        do throws(ServiceFailure) {
            return try InputFile.read(path)
        } catch {
            throw ServiceFailure("\(key): \(error.lines.joined(separator: "; "))")
        }
    }
}
