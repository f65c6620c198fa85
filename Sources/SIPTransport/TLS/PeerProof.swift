import Logging
import SIPCore
import SIPSecurity

/// Certificates that a peer presented, and the identity derived from them.
final class PeerProof: Sendable {
    let identity: PeerIdentity
    /// Certificate of the peer itself.
    let certificate: Certificate
    /// Verified chain, starting with the peer's own certificate.
    let chain: [Certificate]

    init(identity: PeerIdentity, certificate: Certificate, chain: [Certificate]) {
        self.identity = identity
        self.certificate = certificate
        self.chain = chain
    }

    /// Whether a certificate of the chain expires after `before` and not later than `now`.
    func ends(after before: Instant, by now: Instant) -> Bool {
        chain.contains { before.secondsSince1970 < $0.notAfter && $0.notAfter <= now.secondsSince1970 }
    }
}

/// The last check of all peers of one loop.
struct PeerChecks {
    /// Number of reloads at that time.
    private var reloads: UInt64 = 0
    /// Wall-clock time; nil before the first check.
    private var checkedAt: Instant?

    /// - Returns: Whether the settings were replaced since the last check, and its time.
    mutating func begin(reloads: UInt64, at now: Instant) -> (isReloaded: Bool, before: Instant) {
        defer {
            self.reloads = reloads
            checkedAt = now
        }
        return (reloads != self.reloads, checkedAt ?? now)
    }
}

extension ConnectionTable {
    /// Closes connections with a peer certificate that is no longer accepted, because roots or expected names were replaced or a
    /// certificate has expired (RFC 5280 4.1.2.5).
    func checkPeers(at now: Instant) {
        guard let tls = host.tls else { return }
        let (isReloaded, before) = peerChecks.begin(reloads: tls.reloads, at: now)
        let generation = tls.generation
        // Several connections of a partner present the same certificate: verify it once.
        var known: [Check: Result<PeerProof, HandshakeFailure>] = [:]
        for connection in Array(connections.all) where connection.life.isOpen {
            guard let proof = connection.trust.proof, isReloaded || proof.ends(after: before, by: now) else { continue }
            let check = Check(connection, proof)
            let result = known[check] ?? generation.check(proof, again: connection, at: now)
            known[check] = result
            switch result {
            case .success(let renewed):
                guard connection.proved(by: renewed) else { continue }
                host.reusable.update(connection.id, to: renewed.identity)
            case .failure(let failure):
                var metadata = failure.metadata
                metadata["remote"] = "\(connection.remote)"
                metadata["connection"] = "\(connection.id.rawValue)"
                host.logger.notice("connection closed: its certificate counts no longer", metadata: metadata)
                host.counters.peersDistrusted &+= 1
                abandon(connection, reason: failure.description)
                host.schedulePump()
            }
        }
    }

    /// Inputs that determine the outcome of a check.
    private struct Check: Hashable {
        var fingerprint: String
        var intermediates: [String]
        /// Remote address of an outgoing connection; nil for accepted ones.
        var address: TransportAddress?
        var needsCertificate: Bool

        init(_ connection: StreamConnection, _ proof: PeerProof) {
            fingerprint = proof.identity.fingerprint
            intermediates = proof.chain.dropFirst().map(\.fingerprint)
            address = connection.isAccepted ? nil : connection.remote
            needsCertificate = connection.trust.needsCertificate
        }
    }
}

extension TLSGeneration {
    /// Verifies a peer's certificates again, by the settings of this generation.
    func check(_ proof: PeerProof, again connection: StreamConnection, at now: Instant) -> Result<PeerProof, HandshakeFailure> {
        let demand: Demand =
            connection.isAccepted
            ? connection.trust.needsCertificate ? .partner : .anybody : .server(settings.expectation(of: connection.remote))
        do throws(HandshakeFailure) {
            return .success(try identify(proof.chain.map(\.octets), demand, at: now))
        } catch {
            return .failure(error)
        }
    }
}
