import EnhancedPresence
import PolicyBridge
import PresenceDocuments
import SIPCore

/// Answers to the documents: memberships of users with containers.
extension PortAnswers: ContainerPolicies {
    func memberships(of user: String) -> [ContainerID: ContainerMembership]? {
        guard let uri = SIPURI(user), let domain = configuration.domain(uri.domainKey), domain.hosted, domain.unruledHandling == nil else {
            return nil
        }
        return flows.presentities.members.memberships(of: user)
    }

    func change(_ changes: [MembershipChange], of user: String, at now: Instant) throws(Refusal) {
        try flows.presentities.members.change(changes, of: user, at: now)
    }
}
