import Logging
import NIOSSL
import SIPCore
import SIPSecurity
import Synchronization

/// TLS of one process: the settings in use, what became of handshakes, and whose certificates end when. Used by all loops.
public final class TLSService: Sendable {
    /// Peers whose certificates are remembered, at most.
    private static let peerLimit = 4_096
    /// A peer that was not met for so long is forgotten.
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
        var told = RecentNotes<FailureNote>(limit: 1_024)
        var warnedAt: Instant?
        var reloads: UInt64 = 0
    }

    private let state: Mutex<State>
    /// For how often the log is written: runs evenly, whatever the wall clock is set to.
    private let clock = HostClock()
    private let logger: Logger

    /// - Throws: `TLSProblem` or NIOSSL's error, when a text cannot be used.
    public init(_ settings: TLSSettings, logger: Logger) throws {
        state = Mutex(State(generation: try TLSGeneration(settings)))
        self.logger = logger
    }

    /// The settings in use.
    public var settings: TLSSettings { generation.settings }

    var generation: TLSGeneration { state.withLock { $0.generation } }

    /// How often the settings were replaced.
    var reloads: UInt64 { state.withLock { $0.reloads } }

    /// New handshakes follow other settings; connections that live are checked against them by ``SIPServer/checkPeers()``.
    ///
    /// - Throws: As ``init(_:logger:)``; the settings in use stay then.
    public func replace(_ settings: TLSSettings) throws {
        let generation = try TLSGeneration(settings)
        state.withLock {
            $0.generation = generation
            $0.warnedAt = nil
            $0.reloads += 1
        }
    }

    // MARK: What happened

    /// - Parameter role: The peer's.
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

    /// A connection was closed because too many handshakes were under way: counted, and not logged one by one.
    func refusedTooMany() {
        state.withLock { $0.failures[TLSStatistics.FailureKey(.tooMany, .here), default: 0] += 1 }
    }

    /// Counts every failure, and logs one of each kind and peer address a minute.
    /// - Parameter role: The peer's.
    func failed(_ failure: HandshakeFailure, role: TrustAnchors.Role, remote: TransportAddress) {
        let now = clock.now()
        let isNews = state.withLock { state in
            state.failures[TLSStatistics.FailureKey(failure.kind, failure.refusedBy), default: 0] += 1
            return state.told.isNews(FailureNote(host: remote.host, kind: failure.kind), at: now)
        }
        guard isNews else { return }
        var metadata = failure.metadata
        metadata["remote"] = "\(remote)"
        metadata["peer-role"] = role == .client ? "client" : "server"
        logger.warning("TLS handshake failed", metadata: metadata)
    }

    /// Warns of certificates that end soon, ours and those of peers met lately; once a day whatever how often it is asked.
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

    public var statistics: TLSStatistics {
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

/// What ``TLSService`` has seen since the start.
public struct TLSStatistics: Sendable {
    public struct FailureKey: Hashable, Sendable {
        public var kind: HandshakeFailure.Kind
        public var refusedBy: HandshakeFailure.Party

        public init(_ kind: HandshakeFailure.Kind, _ party: HandshakeFailure.Party) {
            self.kind = kind
            refusedBy = party
        }
    }

    /// One certificate that was met.
    public struct Peer: Sendable {
        public var certificate: Certificate
        /// What it proves, and by whose roots.
        public var identity: PeerIdentity
        public var isClient: Bool
        public var lastMet: Instant
    }

    public var handshakesWithClients: UInt64
    public var handshakesWithServers: UInt64
    public var failures: [FailureKey: UInt64]
    public var reloads: UInt64
    /// Seconds since 1970 at which the first certificate of each chain of ours ends, by the description of its own certificate.
    public var ownExpiry: [String: Int64]
    public var peers: [Peer]
}
