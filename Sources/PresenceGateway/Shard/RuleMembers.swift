import EnhancedPresence
import FederationRouting
import PolicyBridge
import PresenceDocuments
import PresenceRules
import SIPCore
import XCAP

/// Containers and subscribers of users whose watchers presence rules decide about, as Microsoft clients of these users change them.
///
///     ruleset --rules of the forms of containers--> members with versions
///     setContainerMembers, setSubscribers --> edited ruleset, stored like one by XCAP --> decisions about the watchers
///
/// The version of a container is made of its members, so that it is the same in each process; an empty container has 0.
final class RuleMembers: FlowsPart {
    private var bridge: PolicyBridge {
        let configuration = configuration
        return PolicyBridge(networks: configuration.networkDomains) { configuration.canonical($0) }
    }

    /// Whether presence rules decide about the watchers of the user.
    func decides(_ service: ServiceRequest) -> Bool {
        configuration.domain(service.parties.presentity.domainKey)?.unruledHandling != nil
    }

    // MARK: members

    /// The containers that the ruleset of a user amounts to, with changes that are not stored yet; empty without one.
    func memberships(of user: String) -> [ContainerID: ContainerMembership] {
        guard let octets = flows.decidingDocuments.currentRules(of: user), let ruleset = try? PresenceRulesDocument.decode(octets) else {
            return [:]
        }
        return bridge.memberships(from: ruleset).members.mapValues {
            ContainerMembership(version: Self.version(of: $0), members: $0)
        }
    }

    private static func version(of members: [ContainerMember]) -> UInt32 {
        guard !members.isEmpty else { return 0 }
        var digest = PresenceDigest()
        for member in members { digest.add("\(member.type) \(member.value ?? "")\n".utf8) }
        return UInt32(truncatingIfNeeded: digest.value) & 0x7fff_ffff | 1
    }

    // MARK: requests

    /// Changes the rules as a client changes its containers; the 200 has no body (MS-PRES 3.5.5).
    func setContainerMembers(_ service: ServiceRequest, at now: Instant) throws(Refusal) {
        let user = service.parties.presentityKey
        let document: SetContainerMembersDocument
        do {
            document = try SetContainerMembersDocument(parsing: service.request.body, limits: documentLimits)
        } catch {
            throw .unreadable(error, "the request's document cannot be read")
        }
        let octets = flows.decidingDocuments.currentRules(of: user)
        var shown = EnhancedPresentity(uri: service.parties.presentity.description)
            .replacingMemberships(memberships(of: user))
        do throws(EnhancedPresenceRefusal) {
            // Form, versions and limits are those of containers.
            _ = try shown.setContainerMembers(document, by: service.sender)
        } catch {
            throw Refusal(error)
        }
        let changes = document.containers.flatMap { container in
            container.changes.map { MembershipChange($0.action, $0.member, in: container.id) }
        }
        try edit(octets, by: changes, of: user, at: now)
        try flows.presentities.members.removeAll(of: user, at: now)
        counters.publicationsAccepted += 1
        respond(
            SIPResponse(to: service.request, status: .ok, toTag: tokens.tag()), service.transaction,
            in: CommitScope(user, user, ofDialog: nil), at: now)
    }

    /// Acknowledges a watcher that waits for a decision, which is allowed by that; the 200 has no body (MS-PRES 3.6.5).
    func setSubscribers(_ service: ServiceRequest, at now: Instant) throws(Refusal) {
        let user = service.parties.presentityKey
        let document: SetSubscribersDocument
        do {
            document = try SetSubscribersDocument(parsing: service.request.body, limits: documentLimits)
        } catch {
            throw .unreadable(error, "the request's document cannot be read")
        }
        guard PresenceAddress(service.sender.from) == PresenceAddress(service.sender.to) else {
            throw .forbidden("MS-PRES 3.6.5.3: the From URI differs from the To URI")
        }
        let octets = flows.decidingDocuments.currentRules(of: user)
        let ruleset = octets.flatMap { try? PresenceRulesDocument.decode($0) } ?? PresenceRulesDocument()
        // Written with and without a scheme.
        guard let written = SIPURI(document.user) ?? SIPURI("sip:" + document.user),
            flows.presentities.review.hasPendingWatcher(
                PresenceAddress(configuration.canonical(written).description), of: user)
        else { throw .badRequest("MS-PRES 3.6.5.3: no watcher of that address waits for a decision", errorID: 2000) }
        let change = bridge.acknowledgement(of: configuration.canonical(written).description, decidedAs: .confirm, in: ruleset)
        if let change { try edit(octets, by: [change], of: user, at: now) }
        counters.publicationsAccepted += 1
        respond(
            SIPResponse(to: service.request, status: .ok, toTag: tokens.tag()), service.transaction,
            in: CommitScope(user, user, ofDialog: nil), at: now)
    }

    /// Edits a ruleset and stores it.
    /// - Throws: 403 for a change that rules cannot express, or that another rule would undo; 413 and 503 for the limits of documents.
    private func edit(_ octets: [UInt8]?, by changes: [MembershipChange], of user: String, at now: Instant) throws(Refusal) {
        let edit: RulesetEdit
        do throws(RulesetEditFailure) {
            edit = try bridge.ruleset(applying: changes, to: octets)
        } catch {
            throw .forbidden("RFC 5025 3: presence rules decide about the watchers of this user: \(error)", errorID: 2004)
        }
        if let conflict = edit.conflicts.first {
            throw .forbidden("RFC 5025 3: presence rules decide about the watchers of this user: \(conflict)", errorID: 2004)
        }
        if edit.octets != octets { try flows.documents.replaceRules(edit.octets, of: user, at: now) }
    }
}
