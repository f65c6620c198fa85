import EnhancedPresence
import PresenceDocuments
import PresenceRules
import SIPCore
import XMLCore

@testable import PolicyBridge

/// Small world in which random policies are compared: five users, four domains with networks, strangers and an anonymous watcher.
struct World {
    static let users = ["a@contoso.com", "b@contoso.com", "c@fabrikam.com", "d@example.com", "e@example.net"]
    static let domains = ["contoso.com", "fabrikam.com", "example.com", "example.net"]
    static let containers = [100, 200, 300, 400, 32_000].compactMap { ContainerID($0) }
    static let now = Instant(secondsSince1970: 1_777_885_200)

    /// Watcher in both models.
    struct Watcher {
        var address: String
        var rule: RuleWatcher
        var container: WatcherIdentity

        /// Keys that may name the watcher, in the order of containers.
        var keys: [MemberKey] {
            if rule.isAnonymous { return [.everyone] }
            return [.user(address), .domain(MemberKey.domain(of: address)), .network(container.network.rawValue), .everyone]
        }
    }

    var bridge: PolicyBridge
    var watchers: [Watcher]

    /// Worlds with federated domains by list, and with open federation.
    static let both = [World(federated: ["example.net"]), World(federated: nil)]

    init(federated: [String]?) {
        let networks = NetworkDomains(sameEnterprise: ["contoso.com", "fabrikam.com"], publicCloud: ["example.com"], federated: federated)
        bridge = PolicyBridge(networks: networks)
        watchers = (Self.users + Self.domains.map { "stranger@" + $0 } + ["stranger@example.org"]).map { address in
            Watcher(
                address: address, rule: SIPURI("sip:" + address).map { RuleWatcher($0) } ?? .anonymous,
                container: WatcherIdentity(uri: "sip:" + address, network: networks.network(of: MemberKey.domain(of: address))))
        }
        watchers.append(
            Watcher(
                address: "anonymous", rule: .anonymous,
                container: WatcherIdentity(uri: "sip:anonymous@anonymous.invalid", network: SourceNetwork(rawValue: "anonymous"))))
    }

    /// Handling, and the grants where they count.
    struct Answer: Equatable {
        var handling: SubscriptionHandling
        var grants: PresenceGrants

        init(_ handling: SubscriptionHandling, _ grants: PresenceGrants) {
            self.handling = handling
            self.grants = handling == .allow ? grants : PresenceGrants()
        }

        func isAtMost(_ other: Answer) -> Bool {
            handling < other.handling || (handling == other.handling && grants.isSubset(of: other.grants))
        }

        func isSame(as other: Answer) -> Bool { isAtMost(other) && other.isAtMost(self) }
    }

    /// Decisions of the real evaluator for all watchers.
    func decisions(_ rules: PresenceRulesDocument, unruled: UnruledHandling = .block, sphere: String? = nil) -> [Answer] {
        let compiled = CompiledRules(rules, lists: Self.lists)
        let context = DecisionContext(now: Self.now, sphere: PresentitySphere(sphere), unruled: unruled)
        return watchers.map { watcher in
            let decision = compiled.decide(watcher.rule, in: context)
            return Answer(decision.handling, decision.grants)
        }
    }

    /// What the container of each watcher grants; a container without a row grants nothing.
    func decisions(_ members: [ContainerID: [ContainerMember]], unruled: UnruledHandling = .block) -> [Answer] {
        let resolver = ContainerResolver(memberships: Self.memberships(members))
        return watchers.map { watcher in
            guard let container = resolver.place(of: watcher.container)?.container else {
                return Answer(unruled.handling, unruled == .allow ? .everything : PresenceGrants())
            }
            guard let row = ContainerGrants.row(of: container) else { return Answer(.block, PresenceGrants()) }
            return Answer(row.handling, row.grants)
        }
    }

    static func memberships(_ members: [ContainerID: [ContainerMember]]) -> [ContainerID: ContainerMembership] {
        members.mapValues { ContainerMembership(members: $0) }
    }

    static func applying(_ changes: [MembershipChange], to members: [ContainerID: [ContainerMember]]) -> [ContainerID: [ContainerMember]] {
        var members = members
        for change in changes {
            switch change.action {
            case .add: members[change.container, default: []].append(change.member)
            case .remove: members[change.container]?.removeAll { $0 == change.member }
            }
        }
        return members
    }

    static let anchor = "resource-lists/users/sip:mara@example.com/index/~~/resource-lists/list%5B@name=%22one%22%5D"
    static let lists: ListDocuments = {
        var documents = ListDocuments()
        let text =
            "<resource-lists xmlns='urn:ietf:params:xml:ns:resource-lists'><list name='one'><entry uri='sip:a@contoso.com'/>"
            + "<entry uri='sip:stranger@example.net'/></list></resource-lists>"
        if let list = try? ResourceListsDocument.decode(Array(text.utf8)) {
            documents.add(list, at: "resource-lists/users/sip:mara@example.com/index")
        }
        return documents
    }()
}

// MARK: random policies

extension World {
    static func member(_ generator: inout SeededGenerator) -> ContainerMember {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<4: ContainerMember(.user, value: generator.pick(users))
        case 4..<7: ContainerMember(.domain, value: generator.pick(domains))
        case 7: ContainerMember(.everyone)
        default: ContainerMember(generator.pick([.sameEnterprise, .federated, .publicCloud]))
        }
    }

    static func members(_ generator: inout SeededGenerator, others: Bool) -> [ContainerID: [ContainerMember]] {
        var members: [ContainerID: [ContainerMember]] = [:]
        for _ in 0..<Int.random(in: 0...5, using: &generator) {
            let container = others && generator.chance(10) ? ContainerID(150) ?? .default : generator.pick(containers)
            let member = member(&generator)
            if members[container]?.contains(member) != true { members[container, default: []].append(member) }
        }
        return members
    }

    static func match(_ generator: inout SeededGenerator) -> IdentityMatch {
        if generator.chance(55) { return .one(id: "sip:" + generator.pick(users)) }
        var exceptions: [IdentityException] = []
        if generator.chance(35) { exceptions.append(IdentityException(id: "sip:" + generator.pick(users))) }
        if generator.chance(10) { exceptions.append(IdentityException(domain: generator.pick(domains))) }
        return .many(domain: generator.chance(80) ? generator.pick(domains) : nil, exceptions: exceptions)
    }

    static func condition(_ generator: inout SeededGenerator) -> RuleCondition {
        switch Int.random(in: 0..<20, using: &generator) {
        case 0..<13: .identity((0..<Int.random(in: 1...2, using: &generator)).map { _ in match(&generator) })
        case 13, 14: .otherIdentity
        case 15, 16: .anonymousRequest
        case 17: .externalList(anchors: [anchor])
        case 18: .sphere("work")
        default: .validity([ValidityPeriod(from: DateTime(nanosecondsSince1970: 0), until: DateTime(nanosecondsSince1970: .max))])
        }
    }

    /// A rule that often has the form of a row.
    static func rule(_ id: String, _ generator: inout SeededGenerator) -> PresenceRule {
        var rule = PresenceRule(id: id)
        let count = generator.chance(85) ? 1 : Int.random(in: 0...2, using: &generator)
        rule.conditions = (0..<count).map { _ in condition(&generator) }
        let row = generator.pick(ContainerGrants.rows)
        rule.handling = row.handling
        rule.transformations = row.transformations
        if generator.chance(20) { rule.handling = generator.pick(SubscriptionHandling.allCases) }
        if generator.chance(10) { rule.transformations.append(.attribute(generator.pick(PresenceAttribute.allCases), true)) }
        return rule
    }

    /// Random rules, half of the time beside those of random memberships.
    func ruleset(_ generator: inout SeededGenerator) -> PresenceRulesDocument {
        var rules: [PresenceRule] = []
        if generator.chance(50) {
            rules = bridge.ruleset(from: Self.memberships(Self.members(&generator, others: false))).rules
            if !rules.isEmpty, generator.chance(20) { rules.remove(at: Int.random(in: rules.indices, using: &generator)) }
        }
        let count = Int.random(in: rules.isEmpty ? 0...4 : 0...2, using: &generator)
        rules += (0..<count).map { Self.rule("r\($0)", &generator) }
        return PresenceRulesDocument(rules: rules)
    }

    static func changes(_ generator: inout SeededGenerator) -> [MembershipChange] {
        (0..<Int.random(in: 1...2, using: &generator)).map { _ in
            MembershipChange(generator.chance(65) ? .add : .remove, member(&generator), in: generator.pick(containers))
        }
    }
}
