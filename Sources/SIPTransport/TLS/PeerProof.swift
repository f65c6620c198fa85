import Logging
import SIPCore
import SIPSecurity

/// What a peer has shown, and what was concluded from it.
final class PeerProof: Sendable {
    let identity: PeerIdentity
    /// The peer's own.
    let certificate: Certificate
    /// The peer's own first.
    let chain: [Certificate]

    init(identity: PeerIdentity, certificate: Certificate, chain: [Certificate]) {
        self.identity = identity
        self.certificate = certificate
        self.chain = chain
    }

    /// Whether one of its certificates ends between two moments.
    func ends(after before: Instant, by now: Instant) -> Bool {
        chain.contains { before.secondsSince1970 < $0.notAfter && $0.notAfter <= now.secondsSince1970 }
    }
}

extension Wires {
    /// Closes connections whose peer no longer proves what it has to: because roots or expected names were replaced, or because a
    /// certificate has ended (RFC 5280 4.1.2.5).
    func checkPeers(at now: Instant) {
        guard let tls = host.tls else { return }
        let reloads = tls.reloads
        let isReloaded = reloads != peersCheckedSince
        let before = peersCheckedAt ?? now
        peersCheckedSince = reloads
        peersCheckedAt = now
        let generation = tls.generation
        // Connections of one partner show the same certificate, which is verified once.
        var known: [Check: Result<PeerProof, HandshakeFailure>] = [:]
        for connection in Array(connections.values) where connection.state == .open {
            guard let proof = connection.proof, isReloaded || proof.ends(after: before, by: now) else { continue }
            let check = Check(connection, proof)
            let result = known[check] ?? generation.check(proof, again: connection, at: now)
            known[check] = result
            switch result {
            case .success(let renewed):
                connection.proof = renewed
                guard connection.peer != renewed.identity else { continue }
                connection.peer = renewed.identity
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

    /// What decides the outcome of a check.
    private struct Check: Hashable {
        var fingerprint: String
        var intermediates: [String]
        /// Of a server.
        var address: TransportAddress?
        var needsCertificate: Bool

        init(_ connection: StreamConnection, _ proof: PeerProof) {
            fingerprint = proof.identity.fingerprint
            intermediates = proof.chain.dropFirst().map(\.fingerprint)
            address = connection.isAccepted ? nil : connection.remote
            needsCertificate = connection.needsCertificate
        }
    }
}

extension TLSGeneration {
    /// Verifies a peer's certificates anew, by these settings.
    func check(_ proof: PeerProof, again connection: StreamConnection, at now: Instant) -> Result<PeerProof, HandshakeFailure> {
        let demand: Demand =
            connection.isAccepted
            ? connection.needsCertificate ? .partner : .anybody : .server(settings.expectation(of: connection.remote))
        do throws(HandshakeFailure) {
            return .success(try identify(proof.chain.map(\.octets), demand, at: now))
        } catch {
            return .failure(error)
        }
    }
}
