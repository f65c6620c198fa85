import SIPCore

/// Partners, as an operator sees them.
extension Gateway {
    /// Reports on the configured partners and on those with messages, sorted by name.
    package var partnerReports: [PartnerReport] { flows.border.partnerReports }

    /// Whether the remote end of a connection is a server of a partner.
    package func isServer(at remote: TransportAddress, proving identity: PeerIdentity?, of partner: String, at now: Instant) -> Bool {
        flows.border.isServer(at: remote, proving: identity, of: partner, at: now)
    }

    /// Starts OPTIONS to the partners; call it once after the start. A reload calls it again and keeps the timing of unchanged domains.
    package func keepPartnersAlive(at now: Instant) { flows.border.probes.start(at: now) }
}
