import NIOCore
import NIOSSL
import SIPCore
import SIPSecurity
import Synchronization

/// Contexts and verifiers made from one ``TLSSettings``. A reload makes a new generation; open connections are checked against it by
/// ``ConnectionTable/checkPeers(at:)``.
///
/// BoringSSL runs the handshakes and checks that the peer has the private key of its certificate. OpenSSL verifies the chains, because
/// NIOSSL does not expose why BoringSSL refused a chain or in which roots it ends.
final class TLSGeneration: Sendable {
    /// Limit of issuer certificates read from one chain.
    private static let chainLimit = 10
    /// Limit of remembered client certificates for resumed sessions.
    private static let sessionLimit = 16_384

    let settings: TLSSettings
    let client: NIOSSLContext
    /// Context that requires a client certificate.
    let strictServer: NIOSSLContext
    /// Context that requests a client certificate and accepts clients without one.
    let lenientServer: NIOSSLContext
    /// Context for HTTP, which requests no client certificate.
    let webServer: NIOSSLContext
    private let anchors: [String: TrustAnchors]
    /// Verified client certificates by fingerprint: a resumed session (RFC 8446 2.2) presents no chain.
    private let known = Mutex(KnownPeers())

    /// Ring buffer of proofs; the oldest entry is replaced when full.
    private struct KnownPeers {
        var proofs: [String: PeerProof] = [:]
        var order: [String] = []
        var oldest = 0
    }

    /// - Throws: `TLSProblem` or an error of NIOSSL when a certificate, key or set of roots cannot be used.
    init(_ settings: TLSSettings) throws {
        self.settings = settings
        var anchors: [String: TrustAnchors] = [:]
        for (name, roots) in settings.roots {
            guard let set = TrustAnchors(roots) else { throw TLSProblem(reason: "the roots \(name) hold no certificate that can be used") }
            anchors[name] = set
        }
        self.anchors = anchors
        client = try NIOSSLContext(configuration: Self.clientConfiguration(settings))
        strictServer = try NIOSSLContext(configuration: Self.serverConfiguration(settings, isStrict: true))
        lenientServer = try NIOSSLContext(configuration: Self.serverConfiguration(settings, isStrict: false))
        var web = try Self.serverConfiguration(settings, isStrict: false)
        web.certificateVerification = .none
        web.applicationProtocols = ["http/1.1"]
        webServer = try NIOSSLContext(configuration: web)
    }

    private static func clientConfiguration(_ settings: TLSSettings) throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        (configuration.certificateChain, configuration.privateKey) = try sources(settings.identity)
        configuration.certificateVerification = .noHostnameVerification
        try harden(&configuration, settings)
        return configuration
    }

    private static func serverConfiguration(_ settings: TLSSettings, isStrict: Bool) throws -> TLSConfiguration {
        let (chain, key) = try sources(settings.identity)
        var configuration = TLSConfiguration.makeServerConfiguration(certificateChain: chain, privateKey: key)
        configuration.certificateVerification = isStrict ? .noHostnameVerification : .optionalVerification
        try harden(&configuration, settings)
        var overrides: [String: NIOSSLContextConfigurationOverride] = [:]
        for (name, identity) in settings.names {
            var override = NIOSSLContextConfigurationOverride()
            (override.certificateChain, override.privateKey) = try sources(identity)
            overrides[name] = override
        }
        if !overrides.isEmpty {
            let table = overrides
            configuration.sslContextCallback = { hello, promise in
                let name = hello.serverHostname.map { SIPURI(host: $0).domainKey }
                promise.succeed(name.flatMap { table[$0] } ?? .noChanges)
            }
        }
        return configuration
    }

    private static func sources(_ identity: TLSSettings.Identity) throws -> ([NIOSSLCertificateSource], NIOSSLPrivateKeySource) {
        let chain = try identity.chain.map { NIOSSLCertificateSource.certificate(try NIOSSLCertificate(bytes: $0.octets, format: .der)) }
        return (chain, .privateKey(try NIOSSLPrivateKey(bytes: identity.keyPEM, format: .pem)))
    }

    /// Allows only TLS 1.2 and 1.3 (RFC 8996) and gives BoringSSL no roots, since OpenSSL verifies the chains.
    private static func harden(_ configuration: inout TLSConfiguration, _ settings: TLSSettings) throws {
        configuration.minimumTLSVersion = .tlsv12
        configuration.maximumTLSVersion = .tlsv13
        configuration.trustRoots = .certificates([])
        configuration.shutdownTimeout = .seconds(2)
    }

    // MARK: Peers

    /// Identity that a peer has to prove, besides a trusted root.
    enum Demand {
        /// A server: one of the expected names.
        case server(PeerExpectation)
        /// A connecting partner: a name of any partner.
        case partner
        /// A client: no name required.
        case anybody

        /// TLS role of the peer.
        var role: TrustAnchors.Role { if case .server = self { .server } else { .client } }
    }

    /// Verifies the chain that a peer presented, and its name.
    ///
    /// - Parameter chain: Certificates in DER, the peer's own first.
    func identify(_ chain: [[UInt8]], _ demand: Demand, at now: Instant) throws(HandshakeFailure) -> PeerProof {
        let expected = names(of: demand)
        guard let first = chain.first, let leaf = Certificate(octets: first) else {
            throw HandshakeFailure(.unusable, by: .here, expected: expected, reason: "the peer's certificate cannot be read")
        }
        let others = chain.dropFirst().prefix(Self.chainLimit).compactMap { Certificate(octets: $0) }
        var roots: Set<String> = []
        var refusal: ChainRefusal?
        // Try all roots, for servers too: later requests over this connection may concern domains with other roots.
        for (name, set) in anchors {
            do throws(ChainRefusal) {
                try set.verify([leaf] + others, as: demand.role, at: now)
                roots.insert(name)
            } catch {
                let order = ChainRefusal.Rule.allCases
                if refusal.map({ order.firstIndex(of: error.rule)! < order.firstIndex(of: $0.rule)! }) ?? true { refusal = error }
            }
        }
        guard !roots.isEmpty else {
            var failure =
                refusal.map { HandshakeFailure($0) }
                ?? HandshakeFailure(.unknownRoot, by: .here, certificate: leaf, reason: "no roots are trusted here")
            failure.expected = expected
            throw failure
        }
        let identity = PeerIdentity(leaf, roots: roots)
        if let verdict = shortcoming(of: identity, demand) { throw HandshakeFailure(verdict, certificate: leaf, expected: expected) }
        let proof = PeerProof(identity: identity, certificate: leaf, chain: [leaf] + others)
        if demand.role == .client { remember(proof) }
        return proof
    }

    /// Why the peer's names are not accepted; nil when they are.
    private func shortcoming(of peer: PeerIdentity, _ demand: Demand) -> PeerNameVerdict? {
        switch demand {
        case .anybody: return nil
        case .server(let expectation):
            let verdict = expectation.verdict(on: peer)
            return verdict.isProved ? nil : verdict
        case .partner:
            let known = settings.clientExpectations ?? Array(settings.expectations.values)
            var first: PeerNameVerdict?
            for expectation in known {
                let verdict = expectation.verdict(on: peer)
                if verdict.isProved { return nil }
                first = first ?? verdict
            }
            if settings.clientExpectations != nil { return first ?? .noName }
            var rule = PeerNameRule.enterprise
            rule.roots = peer.roots.first ?? rule.roots
            return peer.names(by: rule).isEmpty ? peer.proves("", by: rule) : nil
        }
    }

    /// Accepted names for a diagnosis: all for a server, at most 5 for a partner.
    private func names(of demand: Demand) -> [String] {
        switch demand {
        case .server(let expectation): expectation.names
        case .partner: Array((settings.clientExpectations ?? []).flatMap(\.names).prefix(5))
        case .anybody: []
        }
    }

    /// Returns the identity of a client that resumed a session; its first handshake was verified by this generation.
    func recognise(_ octets: [UInt8], _ demand: Demand, at now: Instant) throws(HandshakeFailure) -> PeerProof {
        guard let leaf = Certificate(octets: octets) else {
            throw HandshakeFailure(.unusable, by: .here, reason: "the peer's certificate cannot be read")
        }
        guard leaf.notAfter > now.secondsSince1970 else {
            throw HandshakeFailure(.expired, by: .here, certificate: leaf, reason: "the certificate of a resumed session has expired")
        }
        if let proof = known.withLock({ $0.proofs[leaf.fingerprint] }) { return proof }
        return try identify([octets], demand, at: now)
    }

    private func remember(_ proof: PeerProof) {
        let fingerprint = proof.identity.fingerprint
        known.withLock { known in
            let isNew = known.proofs.updateValue(proof, forKey: fingerprint) == nil
            guard isNew else { return }
            guard known.order.count >= Self.sessionLimit else { return known.order.append(fingerprint) }
            known.proofs[known.order[known.oldest]] = nil
            known.order[known.oldest] = fingerprint
            known.oldest = (known.oldest + 1) % Self.sessionLimit
        }
    }
}

/// Error for TLS settings that cannot be used.
package struct TLSProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// Explanation for the operator.
    package var reason: String
    /// Same text as `reason`.
    package var description: String { reason }
}
