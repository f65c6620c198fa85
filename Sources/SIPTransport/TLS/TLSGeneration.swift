import NIOCore
import NIOSSL
import SIPCore
import SIPSecurity
import Synchronization

/// Everything made of one ``TLSSettings``: contexts and verifiers. A reload makes a new one; connections keep theirs.
///
/// BoringSSL runs the handshakes and checks that the peer has the key of its certificate. Chains are verified by OpenSSL, because
/// BoringSSL tells here neither what it disliked nor to which roots a chain leads.
final class TLSGeneration: Sendable {
    /// Certificates of one chain that are read, at most.
    private static let chainLimit = 10
    /// Peers whose resumed sessions are recognised, at most.
    private static let sessionLimit = 16_384

    let settings: TLSSettings
    let client: NIOSSLContext
    /// Asks clients for a certificate and insists on it.
    let strictServer: NIOSSLContext
    /// Asks clients for a certificate and takes those without.
    let lenientServer: NIOSSLContext
    private let anchors: [String: TrustAnchors]
    /// Identities by fingerprint: a resumed session (RFC 8446 2.2) shows no chain.
    private let known = Mutex(KnownPeers())

    /// The oldest makes room.
    private struct KnownPeers {
        var proofs: [String: PeerProof] = [:]
        var order: [String] = []
        var oldest = 0
    }

    /// - Throws: NIOSSL's or `TLSProblem`, when a text cannot be used.
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

    /// TLS 1.2 and 1.3 only (RFC 8996); the roots are not BoringSSL's to look at, and the system's are not to be loaded.
    private static func harden(_ configuration: inout TLSConfiguration, _ settings: TLSSettings) throws {
        configuration.minimumTLSVersion = .tlsv12
        configuration.maximumTLSVersion = .tlsv13
        configuration.trustRoots = .certificates([])
        configuration.shutdownTimeout = .seconds(2)
    }

    // MARK: Peers

    /// What a peer has to prove besides a root.
    enum Demand {
        /// A server: what we asked for.
        case server(PeerExpectation)
        /// A partner that connects to us: one of the names that partners have.
        case partner
        /// Nothing.
        case anybody

        /// What the peer does with its certificate.
        var role: TrustAnchors.Role { if case .server = self { .server } else { .client } }
    }

    /// Verifies the chain that a peer presented, and the name that it has to prove.
    ///
    /// - Parameter chain: In DER, the peer's own first.
    func identify(_ chain: [[UInt8]], _ demand: Demand, at now: Instant) throws(HandshakeFailure) -> PeerProof {
        let expected = names(of: demand)
        guard let first = chain.first, let leaf = Certificate(octets: first) else {
            throw HandshakeFailure(.unusable, by: .here, expected: expected, reason: "the peer's certificate cannot be read")
        }
        let others = chain.dropFirst().prefix(Self.chainLimit).compactMap { Certificate(octets: $0) }
        var roots: Set<String> = []
        var refusal: ChainRefusal?
        // Of a server too: what it says over this connection later may be for other domains, with other roots.
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

    /// Why the peer does not prove what it has to; nil: it does.
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

    /// The names that would do, a few of them, for a diagnosis.
    private func names(of demand: Demand) -> [String] {
        switch demand {
        case .server(let expectation): expectation.names
        case .partner: Array((settings.clientExpectations ?? []).flatMap(\.names).prefix(5))
        case .anybody: []
        }
    }

    /// The identity of a client that resumed a session, which began with a whole handshake of this generation.
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

/// Why settings of TLS cannot be used.
public struct TLSProblem: Error, Hashable, Sendable, CustomStringConvertible {
    public var reason: String
    public var description: String { reason }
}
