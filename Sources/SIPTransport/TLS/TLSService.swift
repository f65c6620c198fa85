import Logging
import NIOSSL
import SIPCore
import SIPSecurity
import Synchronization

/// Holds the TLS settings of one process, counts handshakes and remembers peer certificates; shared by all loops.
public final class TLSService: Sendable {
    /// Limit of remembered peer certificates.
    private static let peerLimit = 4_096
    /// Time after the last handshake when a peer certificate is forgotten (30 days).
    private static let peerMemory = TimeSpan.seconds(30 * 86_400)
    private static let day = TimeSpan.seconds(86_400)

    private struct Peer {
        var certificate: Certificate
        var identity: PeerIdentity
        var isClient: Bool
        var lastMet: Instant
    }

    private struct FailureNote: Hashable {
        var host: String
        var kind: HandshakeFailure.Kind
    }

    private struct State {
        var generation: TLSGeneration
        var completed: [TrustAnchors.Role: UInt64] = [:]
        var failures: [TLSStatistics.FailureKey: UInt64] = [:]
        var peers: [String: Peer] = [:]
        var reported = RecentNotes<FailureNote>(limit: 1_024)
        var warnedAt: Instant?
        var reloads: UInt64 = 0
    }

    private let state: Mutex<State>
    /// Clock for the log's rate limit; steady when the wall clock is set.
    private let clock = HostClock()
    private let logger: Logger

    /// Creates the service with its first settings.
    /// - Throws: `TLSProblem` or an error of NIOSSL when a certificate, key or set of roots cannot be used.
    public init(_ settings: TLSSettings, logger: Logger) throws {
        state = Mutex(State(generation: try TLSGeneration(settings)))
        self.logger = logger
    }

    /// Settings that new handshakes use.
    package var settings: TLSSettings { generation.settings }

    var generation: TLSGeneration { state.withLock { $0.generation } }

    /// Gives the context for a new HTTP connection: with the present certificates, and without client certificates.
    package var webContexts: @Sendable () -> NIOSSLContext { { self.generation.webServer } }

    /// Number of times the settings were replaced.
    var reloads: UInt64 { state.withLock { $0.reloads } }

    /// Replaces the settings for new handshakes; open connections are checked against them by ``SIPServer/checkPeers()``.
    ///
    /// - Throws: The errors of ``init(_:logger:)``; the previous settings then stay in use.
    package func replace(_ settings: TLSSettings) throws {
        let generation = try TLSGeneration(settings)
        state.withLock {
            $0.generation = generation
            $0.warnedAt = nil
            $0.reloads += 1
        }
    }

    // MARK: Handshakes

    /// Counts a completed handshake and remembers the peer's certificate.
    /// - Parameter role: TLS role of the peer.
    func completed(_ role: TrustAnchors.Role, with proof: PeerProof?, at now: Instant) {
        state.withLock { state in
            state.completed[role, default: 0] += 1
            guard let proof else { return }
            let certificate = proof.certificate
            if state.peers.count >= Self.peerLimit, state.peers[certificate.fingerprint] == nil,
                let oldest = state.peers.min(by: { $0.value.lastMet < $1.value.lastMet })
            {
                state.peers[oldest.key] = nil
            }
            state.peers[certificate.fingerprint] = Peer(
                certificate: certificate, identity: proof.identity, isClient: role == .client, lastMet: now)
        }
    }

    /// Counts a connection closed because too many handshakes were running; not logged one by one.
    func refusedTooMany() {
        state.withLock { $0.failures[TLSStatistics.FailureKey(.tooMany, .here), default: 0] += 1 }
    }

    /// Counts a failure, and logs at most one per kind and peer host each minute.
    /// - Parameter role: TLS role of the peer.
    func failed(_ failure: HandshakeFailure, role: TrustAnchors.Role, remote: TransportAddress) {
        let now = clock.now()
        let isNews = state.withLock { state in
            state.failures[TLSStatistics.FailureKey(failure.kind, failure.refusedBy), default: 0] += 1
            return state.reported.isNews(FailureNote(host: remote.host, kind: failure.kind), at: now)
        }
        guard isNews else { return }
        var metadata = failure.metadata
        metadata["remote"] = "\(remote)"
        metadata["peer-role"] = role == .client ? "client" : "server"
        logger.warning("TLS handshake failed", metadata: metadata)
    }

    /// Warns of own certificates and those of recent peers that expire within the warning time or have expired; at most once a day, also
    /// when called more often.
    func warnOfExpiry(at now: Instant) {
        let due = state.withLock { state -> [(certificate: Certificate, whose: String)] in
            guard state.warnedAt.map({ now - $0 >= Self.day }) ?? true else { return [] }
            state.warnedAt = now
            state.peers = state.peers.filter { now - $0.value.lastMet < Self.peerMemory }
            let settings = state.generation.settings
            let limit = (now + settings.warningTime).secondsSince1970
            let own = ([settings.identity] + settings.names.values).flatMap(\.chain).map { ($0, "own") }
            let peers = state.peers.values.map { ($0.certificate, "peer") }
            var seen: Set<String> = []
            return (own + peers).filter { $0.0.notAfter <= limit && seen.insert($0.0.fingerprint).inserted }
        }
        for (certificate, whose) in due.sorted(by: { $0.certificate.notAfter < $1.certificate.notAfter }) {
            let days = (certificate.notAfter - now.secondsSince1970) / 86_400
            logger.warning(
                days < 0 ? "certificate has expired" : "certificate expires soon",
                metadata: [
                    "whose": "\(whose)", "certificate": "\(certificate)", "issuer": "\(certificate.issuer)",
                    "not-after": "\(certificate.endText)", "days-left": "\(days)",
                ])
        }
    }

    /// Counts and certificates since the start of the process.
    package var statistics: TLSStatistics {
        state.withLock { state in
            var own: [String: Int64] = [:]
            for identity in [state.generation.settings.identity] + state.generation.settings.names.values {
                own[identity.chain[0].description] = identity.chain.map(\.notAfter).min()
            }
            return TLSStatistics(
                handshakesWithClients: state.completed[.client] ?? 0, handshakesWithServers: state.completed[.server] ?? 0,
                failures: state.failures, reloads: state.reloads, ownExpiry: own,
                peers: state.peers.values.map {
                    TLSStatistics.Peer(
                        certificate: $0.certificate, identity: $0.identity, isClient: $0.isClient, lastMet: $0.lastMet)
                })
        }
    }
}

/// Handshake counts and certificates recorded by ``TLSService``.
package struct TLSStatistics: Sendable {
    /// Label of a failure count: the rule and the party that refused.
    package struct FailureKey: Hashable, Sendable {
        /// Rule that failed.
        package var kind: HandshakeFailure.Kind
        /// Party that refused the handshake.
        package var refusedBy: HandshakeFailure.Party

        /// Creates a label.
        package init(_ kind: HandshakeFailure.Kind, _ party: HandshakeFailure.Party) {
            self.kind = kind
            refusedBy = party
        }
    }

    /// Certificate that a peer presented in a completed handshake.
    package struct Peer: Sendable {
        /// Certificate of the peer itself.
        package var certificate: Certificate
        /// Names of the certificate and the sets of roots that it leads to.
        package var identity: PeerIdentity
        /// Whether the peer was the TLS client in its last handshake.
        package var isClient: Bool
        /// Wall-clock time of its last completed handshake.
        package var lastMet: Instant
    }

    /// Completed handshakes with peers that connected to this node.
    package var handshakesWithClients: UInt64
    /// Completed handshakes with servers.
    package var handshakesWithServers: UInt64
    /// Failed handshakes by rule and party.
    package var failures: [FailureKey: UInt64]
    /// Number of times the settings were replaced.
    package var reloads: UInt64
    /// Earliest expiry of each own chain in seconds since 1970, by the description of its first certificate.
    package var ownExpiry: [String: Int64]
    /// Certificates of recent peers: at most 4,096, in no particular order.
    package var peers: [Peer]
}
