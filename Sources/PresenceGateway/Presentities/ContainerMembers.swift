import EnhancedPresence
import PolicyBridge
import PresenceDocuments
import SIPCore

/// Container memberships of hosted presentities, which decide about the watchers of users without presence rules (MS-PRES 3.2.5.3).
final class ContainerMembers: ShardMember {
    let kernel: GatewayKernel
    let context: ShardContext
    /// The flow, which owns this part.
    private unowned let flow: PresentitiesFlow

    init(_ flow: PresentitiesFlow) {
        kernel = flow.kernel
        context = flow.context
        self.flow = flow
    }

    /// Changes container memberships; the 200 has no body (MS-PRES 3.5.5).
    func set(by service: ServiceRequest, at now: Instant) throws(Refusal) {
        try flow.commit(service, placesWatchers: true, at: now) { presentity, moment in
            let document = try SetContainerMembersDocument(parsing: service.request.body, limits: documentLimits)
            var change = try presentity.setContainerMembers(document, by: service.sender)
            // A registered client is notified of these values and may replace them with its own.
            if service.isRegistered, change.containers.contains(.blocked) {
                change.formUnion(presentity.publishBlockedDefaults(at: moment))
            }
            return change
        }
    }

    /// Memberships of a user; empty without a record.
    func memberships(of key: String) -> [ContainerID: ContainerMembership] {
        guard let enhanced = flow.table[key]?.enhanced else { return [:] }
        return Dictionary(enhanced.containerIDs.map { ($0, enhanced.membership(of: $0)) }, uniquingKeysWith: { first, _ in first })
    }

    /// Changes memberships as the translation of a changed ruleset, whatever their versions.
    func change(_ changes: [MembershipChange], of key: String, at now: Instant) throws(Refusal) {
        guard let uri = SIPURI(key) else { return }
        let presentity = try flow.presentity(key, uri)
        defer { flow.settle(presentity) }
        let before = presentity.enhanced
        let changed: PresentityChange
        do {
            changed = try presentity.change { enhanced in
                let document = SetContainerMembersDocument(
                    containers: Dictionary(grouping: changes, by: \.container).sorted { $0.key < $1.key }.map { container, changes in
                        ContainerChange(
                            id: container, version: enhanced.membership(of: container).version,
                            changes: changes.map { ContainerMemberChange($0.action, $0.member) })
                    })
                return try enhanced.setContainerMembers(document, by: PublishingEndpoint(from: key, to: key))
            }
        } catch let refusal as EnhancedPresenceRefusal {
            throw Refusal(refusal)
        } catch {
            throw .unreadable(error, "MS-PRES 3.5.5.5")
        }
        flow.table.keep(presentity)
        flow.composePublished(presentity)
        presentity.noteEnhanced(changed)
        flow.blocking.placeWatchers(of: presentity, before: before, at: now)
        flow.notifyAll(of: presentity, changed, at: now)
    }

    /// Removes the members that a user whose rules decide has of an earlier version, which had an effect then.
    func removeAll(of key: String, at now: Instant) throws(Refusal) {
        let changes = memberships(of: key).sorted { $0.key < $1.key }.flatMap { container, membership in
            membership.members.map { MembershipChange(.remove, $0, in: container) }
        }
        if !changes.isEmpty { try change(changes, of: key, at: now) }
    }
}
