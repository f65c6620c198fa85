import EnhancedPresence
import FederationRouting
import PolicyBridge
import PresenceDocuments
import SIPCore
import XCAP
import XMLCore

/// Container memberships of users whose watchers containers decide about, as documents see them.
protocol ContainerPolicies: AnyObject {
    /// Memberships of a user; nil: presence rules decide about the user's watchers.
    func memberships(of user: String) -> [ContainerID: ContainerMembership]?

    /// Changes memberships, and notifies the watchers that see a difference.
    /// - Throws: 413 for too many members, 503 for a full table.
    func change(_ changes: [MembershipChange], of user: String, at now: Instant) throws(Refusal)
}

/// The ruleset of a user whose watchers containers decide about: computed from the memberships, and changed through them.
///
///     memberships --computed--> ruleset that GET shows --edited by PUT--> ruleset --translated--> changes of memberships
///                                                                                  \--not expressible--> 409 extension
struct ContainerRules {
    private let bridge: PolicyBridge
    private let memberships: [ContainerID: ContainerMembership]

    /// - Parameter memberships: memberships of the user.
    init(_ memberships: [ContainerID: ContainerMembership], in configuration: GatewayConfiguration) {
        self.memberships = memberships
        bridge = PolicyBridge(networks: configuration.networkDomains) { configuration.canonical($0) }
    }

    /// The computed ruleset; nil: no container has a member.
    var octets: [UInt8]? {
        memberships.values.contains { !$0.members.isEmpty } ? bridge.ruleset(from: memberships).encode() : nil
    }

    /// The changes of memberships that a changed ruleset amounts to.
    /// - Parameter octets: the ruleset; nil: it is removed.
    /// - Throws: 409 `extension` with the rule that containers cannot express.
    func changes(to octets: [UInt8]?) throws(XCAPConflict) -> [MembershipChange] {
        let wanted: PresenceRulesDocument
        do {
            wanted = try octets.map { try PresenceRulesDocument.decode($0) } ?? PresenceRulesDocument()
        } catch {
            throw .constraint("RFC 5025 3: \(error)")
        }
        do throws(InexpressibleRule) {
            return try bridge.changes(from: wanted, given: memberships)
        } catch {
            var writer = XMLWriter()
            writer.start("inexpressible-rule")
            writer.namespace("", Self.namespace)
            writer.attribute("id", error.rule)
            writer.attribute("element", error.element)
            writer.end()
            let element = try? XMLFragment(parsing: writer.finish())
            throw .extension([element].compactMap(\.self), phrase: "containers cannot express \(error)")
        }
    }

    /// Namespace of the element in a 409 that names a rule.
    static let namespace = "urn:isthmus:xcap-error"
}

extension GatewayConfiguration {
    /// The domains of each network; the federated ones are open if unknown domains belong to them.
    var networkDomains: NetworkDomains {
        func named(_ network: DomainNetwork) -> [String] {
            domains.filter { $0.key != "*" && $0.value.network == network }.map(\.key)
        }
        let isOpen = domains["*"].map { $0.refuse == nil && $0.network == .federated } ?? false
        return NetworkDomains(
            sameEnterprise: named(.sameEnterprise), publicCloud: named(.publicCloud), federated: isOpen ? nil : named(.federated))
    }
}
