import FederationRouting
import NIOCore
import PresenceDocuments
import PresenceGateway
import SIPCore
import SIPSecurity
import SIPTransport
import Synchronization

/// Collects the state of all partners from all shards, with their certificates.
final class PartnerStatus: Sendable {
    private struct Proofs {
        var table: PeerTable
        /// Configuration entries that a certificate may speak for, by its fingerprint.
        var entries: [String: [String]] = [:]
    }

    /// Limit of cached fingerprints; the cache is cleared when full.
    private static let limit = 8_192

    private let server: SIPServer
    private let tls: TLSService?
    private let proofs: Mutex<Proofs>

    init(server: SIPServer, routes: RoutingTable, tls: TLSService?) {
        self.server = server
        self.tls = tls
        proofs = Mutex(Proofs(table: PeerTable(routes)))
    }

    /// Uses new domains after a reload.
    func use(routes: RoutingTable) {
        let table = PeerTable(routes)
        proofs.withLock { $0 = Proofs(table: table) }
    }

    /// Partners by name: configured ones, and others with traffic.
    func rows() async -> [PartnerRow] {
        var parts: [[PartnerReport]] = []
        for shard in server.shards {
            let part = try? await shard.perform { endpoint, _ in (endpoint as? Gateway)?.partnerReports }.get()
            if let part = part ?? nil { parts.append(part) }
        }
        let reports = PartnerReport.sum(parts)
        let peers = tls?.statistics.peers ?? []
        guard !peers.isEmpty else { return reports.map { PartnerRow($0, certificate: nil) } }
        let certificates = firstToEnd(peers, unconfigured: Set(reports.filter { !$0.isConfigured }.map(\.name)))
        return reports.map { PartnerRow($0, certificate: certificates[$0.name]) }
    }

    /// Certificate of each partner that expires first, among those of its servers and clients.
    private func firstToEnd(_ peers: [TLSStatistics.Peer], unconfigured: Set<String>) -> [String: Certificate] {
        var found: [String: Certificate] = [:]
        for peer in peers {
            for name in entries(of: peer.identity)
                + Self.domains(
                    named: peer.identity.sipDomains + peer.identity.dnsNames, isClient: peer.isClient, among: unconfigured)
            {
                if let known = found[name], known.notAfter <= peer.certificate.notAfter { continue }
                found[name] = peer.certificate
            }
        }
        return found
    }

    private func entries(of identity: PeerIdentity) -> [String] {
        proofs.withLock { proofs in
            if let known = proofs.entries[identity.fingerprint] { return known }
            let entries = proofs.table.peer(at: TransportAddress(.tls, "", 0), proving: identity).domains
            if proofs.entries.count >= Self.limit { proofs.entries.removeAll(keepingCapacity: true) }
            proofs.entries[identity.fingerprint] = entries
            return entries
        }
    }

    /// Unconfigured domains named in a certificate; for a server's certificate also the parent domains of its host name.
    static func domains(named proved: [String], isClient: Bool, among names: Set<String>) -> [String] {
        guard !names.isEmpty else { return [] }
        var result: Set<String> = []
        for name in proved {
            var name = name[...]
            if names.contains(String(name)) { result.insert(String(name)) }
            while !isClient, let dot = name.firstIndex(of: ".") {
                name = name[name.index(after: dot)...]
                if names.contains(String(name)) { result.insert(String(name)) }
            }
        }
        return result.sorted()
    }
}
