import FederationRouting
import SIPCore

/// Location of senders: a domain's servers that are known by name only.
extension BorderFlow {
    /// Result of locating the servers that may send for a domain.
    enum Speakers {
        /// Nothing had to be located.
        case known
        /// Located now.
        case found
        /// The message is processed again after the lookup.
        case waiting
        /// Too many messages wait already.
        case full
    }

    /// Locates the addresses that may send for a user's domain, if they are known by name only (``FederationRouting/LocatedServers``).
    func locateSpeakers(for user: SIPURI, _ message: InboundMessage, at now: Instant) -> Speakers {
        guard let naming = configuration.naming else { return .known }
        let hopTargets = peerTable.unlocated(speakingFor: user, at: now)
        for hopTarget in hopTargets {
            switch kernel.delivery.hold(message, for: hopTarget, naming, at: now) {
            case .found: continue
            case .waiting: return .waiting
            case .full: return .full
            }
        }
        return hopTargets.isEmpty ? .known : .found
    }
}
