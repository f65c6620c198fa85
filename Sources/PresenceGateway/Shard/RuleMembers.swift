import EnhancedPresence
import PolicyBridge
import PresenceDocuments
import PresenceRules
import SIPCore
import XCAP

/// Containers of users whose watchers presence rules decide about, as the Microsoft clients of these users see and change them.
///
///     ruleset --rules of the forms of containers--> members that the client sees
///     setContainerMembers, setSubscribers --> edited ruleset, stored like one by XCAP --> decisions, notification of the client
///
/// The version of a container is made of its members, so that it is the same in each process; an empty container has 0.
final class RuleMembers: FlowsPart {
    private var bridge: PolicyBridge {
        let configuration = configuration
        return PolicyBridge(networks: configuration.networkDomains) { configuration.canonical($0) }
    }

    // MARK: members

    /// The published state of a user, with the containers of the rules if these decide.
    func publishedState(_ state: EnhancedPresentity, of user: String, _ uri: SIPURI) -> EnhancedPresentity {
        guard configuration.domain(uri.domainKey)?.unruledHandling != nil else { return state }
        return state.replacingMemberships(memberships(in: flows.decidingDocuments.storedRules(of: user)))
    }

    /// The containers with members of a ruleset.
    private func memberships(in ruleset: PresenceRulesDocument?) -> [ContainerID: ContainerMembership] {
        guard let ruleset else { return [:] }
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

    /// Notifies the clients of a user of changed rules.
    func rulesChanged(of user: String, at now: Instant) {
        flows.homeServer.notifyOwner(of: user, PresentityChange(containers: Set(ContainerGrants.rows.map(\.container))), at: now)
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
            .replacingMemberships(memberships(in: octets.flatMap { try? PresenceRulesDocument.decode($0) }))
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
        try flows.presentities.removeMembers(of: user, at: now)
        counters.publicationsAccepted += 1
        respond(
            SIPResponse(to: service.request, status: .ok, toTag: tokens.tag()), service.transaction,
            in: CommitScope(user, user, ofDialog: nil), at: now)
    }

    /// Acknowledges a subscriber: one that waits for a decision is allowed (MS-PRES 3.6.5).
    func setSubscribers(_ service: ServiceRequest, at now: Instant) throws(Refusal) {
        let user = service.parties.presentityKey
        // A document that cannot be read is refused by the presentity.
        if let document = try? SetSubscribersDocument(parsing: service.request.body, limits: documentLimits),
            let written = SIPURI(document.user), flows.presentities.hasSubscriber(document.user, of: user)
        {
            let watcher = configuration.canonical(written)
            let network = configuration.domain(watcher.domainKey)?.network ?? .federated
            let access = flows.presentities.authorization.access(
                of: RuleWatcher(WatcherIdentity(watcher, network: network), hidesIdentity: false), to: user, service.parties.presentity,
                isWatching: false, at: now)
            let octets = flows.decidingDocuments.currentRules(of: user)
            let ruleset = octets.flatMap { try? PresenceRulesDocument.decode($0) } ?? PresenceRulesDocument()
            let change = bridge.acknowledgement(
                of: watcher.description, decidedAs: access?.isPending == true ? .confirm : .allow, in: ruleset)
            if let change { try edit(octets, by: [change], of: user, at: now) }
        }
        try flows.presentities.setSubscribers(service, at: now)
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
