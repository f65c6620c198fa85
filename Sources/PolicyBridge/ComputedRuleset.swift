import EnhancedPresence
import PresenceDocuments
import PresenceRules
import SIPCore

/// Memberships by member, for enterprise presentities: what each member decides, whatever rules can express of it.
struct HeldMembers {
    /// Containers of each member, those that rules cannot express included.
    var containers: [MemberKey: Set<ContainerID>] = [:]
    /// Members that rules and containers compare differently.
    var inexact: Set<MemberKey> = []

    init(_ memberships: [ContainerID: ContainerMembership], _ keys: KeyReader) {
        for (container, membership) in memberships {
            for member in membership.members {
                guard let (key, isExact) = keys.key(of: member) else { continue }
                containers[key, default: []].insert(container)
                if !isExact { inexact.insert(key) }
            }
        }
    }

    /// The row that decides for a member: that of its highest container; nil if rules cannot express it.
    func row(of key: MemberKey) -> ContainerGrants? {
        guard !inexact.contains(key), let highest = containers[key]?.max() else { return nil }
        return ContainerGrants.row(of: highest)
    }
}

extension PolicyBridge {
    /// First part of the ids of rules that block members whose containers rules cannot express.
    static let otherID = "isthmus-other"

    /// Computes the rules that the memberships of an enterprise presentity amount to; the same memberships give the same document.
    ///
    /// Members of a container without a row of the table are blocked by rules `isthmus-other`, since their containers may grant anything.
    public func ruleset(from memberships: [ContainerID: ContainerMembership]) -> PresenceRulesDocument {
        ruleset(of: HeldMembers(memberships, keys))
    }

    func ruleset(of held: HeldMembers) -> PresenceRulesDocument {
        let (users, domains) = Self.partition(held.containers.keys)
        var members: [ContainerGrants?: RuleForm] = [:]
        var rules: [PresenceRule] = []
        for key in held.containers.keys.sorted() {
            let row = held.row(of: key)
            switch key {
            case .user(let user): members[row, default: Self.empty].users.append(user)
            case .domain(let domain): members[row, default: Self.empty].manys.append(many(domain, users: users))
            case .network(let name):
                if let form = networkForm(ContainerMemberType(rawValue: name), users: users, domains: domains) {
                    rules.append(Self.rule(row, suffix: "-" + name, form))
                }
            case .everyone:
                rules.append(Self.rule(row, suffix: "-everyone", RuleForm(container: .default, kind: .everyone)))
                rules.append(Self.rule(row, suffix: "-anonymous", RuleForm(container: .default, kind: .anonymous)))
            }
        }
        let own = (ContainerGrants.rows.map(Optional.some) + [nil]).compactMap { row in members[row].map { Self.rule(row, suffix: "", $0) }
        }
        return PresenceRulesDocument(rules: own + rules)
    }

    private static let empty = RuleForm(container: .default, kind: .members)

    /// Users and domains of keys, in order.
    static func partition(_ keys: some Sequence<MemberKey>) -> (users: [String], domains: [String]) {
        var users: [String] = []
        var domains: [String] = []
        for key in keys {
            if case .user(let user) = key { users.append(user) }
            if case .domain(let domain) = key { domains.append(domain) }
        }
        return (users.sorted(), domains.sorted())
    }

    /// Rule of a form; no row: a rule that blocks.
    static func rule(_ row: ContainerGrants?, suffix: String, _ form: RuleForm) -> PresenceRule {
        PresenceRule(
            id: (row?.ruleID ?? otherID) + suffix, conditions: form.conditions, handling: row?.handling ?? .block,
            transformations: row?.transformations ?? [])
    }

    /// All watchers of a domain except those that are members themselves.
    func many(_ domain: String, users: [String]) -> RuleForm.Many {
        RuleForm.Many(domain: domain, exceptUsers: users.filter { MemberKey.domain(of: $0) == domain })
    }

    /// All watchers of a network except those that are members themselves or by their domains; nil if it has no domains.
    func networkForm(_ type: ContainerMemberType, users: [String], domains: [String]) -> RuleForm? {
        var form = RuleForm(container: .default, kind: .network(type.rawValue))
        if let own = networks.domains(of: type) {
            // A `many` that excepts its own domain matches nothing, and keeps the list of the network complete.
            form.manys = own.map { domains.contains($0) ? RuleForm.Many(domain: $0, exceptDomains: [$0]) : many($0, users: users) }
            return form.manys.isEmpty ? nil : form
        }
        let excepted = Set(networks.named + domains)
        form.manys = [
            RuleForm.Many(
                domain: nil, exceptUsers: users.filter { !excepted.contains(MemberKey.domain(of: $0)) }, exceptDomains: excepted.sorted())
        ]
        return form
    }
}

/// Change of one member of one container.
public struct MembershipChange: Hashable, Sendable {
    /// Container to change.
    public var container: ContainerID
    /// Whether to add or to remove the member.
    public var action: ContainerMemberChange.Action
    /// Member to add or to remove.
    public var member: ContainerMember

    /// Creates a change.
    public init(_ action: ContainerMemberChange.Action, _ member: ContainerMember, in container: ContainerID) {
        self.container = container
        self.action = action
        self.member = member
    }
}

extension PolicyBridge {
    /// Computes the membership changes that make the rules of a PUT document true for an enterprise presentity.
    ///
    /// A member that the document moves or leaves out is also removed from lower containers, which would decide otherwise.
    /// - Parameter memberships: The memberships from which the present document was computed.
    /// - Throws: The first rule that containers cannot express.
    public func changes(
        from put: PresenceRulesDocument, given memberships: [ContainerID: ContainerMembership]
    ) throws(InexpressibleRule) -> [MembershipChange] {
        let held = HeldMembers(memberships, keys)
        let computed = ruleset(of: held).rules.filter { Self.isOther($0.id) }
        let others = put.rules.filter { Self.isOther($0.id) }
        for rule in computed where !others.contains(where: { $0.isEquivalent(to: rule) }) {
            throw InexpressibleRule(rule: rule.id, element: "rule", reason: "stands for containers without a rule, and cannot be changed")
        }
        for rule in others where !computed.contains(where: { $0.isEquivalent(to: rule) }) {
            throw InexpressibleRule(rule: rule.id, element: "rule", reason: "stands for containers without a rule, and cannot be added")
        }
        let rules = put.rules.filter { !Self.isOther($0.id) }
        let reading = read(PresenceRulesDocument(rules: rules), besides: held.keysWithoutRow)
        if let reason = reading.reasons.lazy.compactMap({ $0 }).first { throw reason }
        let wanted = reading.held.compactMapValues { $0.max() }
        try refuseFallback(from: held, to: wanted)
        var changes: [MembershipChange] = []
        for key in Set(wanted.keys).union(held.containers.keys).sorted() {
            let current = held.containers[key] ?? []
            let target = wanted[key]
            let isExpressed = held.row(of: key) != nil
            if !isExpressed, let highest = current.max() {
                // Blocked by a rule `isthmus-other`, which stays.
                guard let target else { continue }
                guard target > highest, !held.inexact.contains(key) else {
                    let rule = rules[zip(reading.forms, rules.indices).first { $0.0?.keys.contains(key) == true }?.1 ?? 0].id
                    throw InexpressibleRule(
                        rule: rule, element: "identity",
                        reason: "names '\(key.member.value ?? key.member.type.rawValue)', which container \(highest) decides")
                }
            }
            if isExpressed, target == nil, case .network(let name) = key,
                networks.domains(of: ContainerMemberType(rawValue: name))?.isEmpty == true
            {
                // Without domains the network has no rule and no watchers.
                continue
            }
            guard current.max() != target else { continue }
            for container in current.sorted() where container != target {
                changes.append(MembershipChange(.remove, key.member, in: container))
            }
            if let target, !current.contains(target) { changes.append(MembershipChange(.add, key.member, in: target)) }
        }
        return changes
    }

    /// Refuses to leave out a member whose watchers would then be decided by a container without a row.
    private func refuseFallback(from held: HeldMembers, to wanted: [MemberKey: ContainerID]) throws(InexpressibleRule) {
        guard held.containers.keys.contains(where: { held.row(of: $0) == nil }) else { return }
        for key in held.containers.keys.sorted() where wanted[key] == nil && held.row(of: key) != nil {
            var fallbacks: [(MemberKey, suffix: String)] = []
            switch key {
            case .user(let user):
                let domain = MemberKey.domain(of: user)
                fallbacks.append((.domain(domain), ""))
                if let type = networks.type(of: domain) { fallbacks.append((.network(type.rawValue), "-" + type.rawValue)) }
            case .domain(let domain):
                if let type = networks.type(of: domain) { fallbacks.append((.network(type.rawValue), "-" + type.rawValue)) }
            case .network, .everyone: break
            }
            fallbacks.append((.everyone, "-everyone"))
            guard let fallback = fallbacks.first(where: { $0.0 != key && (wanted[$0.0] != nil || held.hasNoRow($0.0)) }),
                wanted[fallback.0] == nil
            else { continue }
            throw InexpressibleRule(
                rule: Self.otherID + fallback.suffix, element: "identity",
                reason: "would include '\(key.member.value ?? key.member.type.rawValue)', which no other rule names any more")
        }
    }

    private static func isOther(_ id: String) -> Bool { id == otherID || id.hasPrefix(otherID + "-") }
}

extension HeldMembers {
    /// Whether rules cannot express the container of a member.
    fileprivate func hasNoRow(_ key: MemberKey) -> Bool { containers[key] != nil && row(of: key) == nil }

    /// Members whose containers rules cannot express.
    fileprivate var keysWithoutRow: [MemberKey] { containers.keys.filter { row(of: $0) == nil } }
}

extension PresenceRule {
    /// Whether a rule has the same conditions, actions and transformations, in any order of identities.
    fileprivate func isEquivalent(to other: PresenceRule) -> Bool {
        guard id == other.id, handling == other.handling, otherActions == other.otherActions, transformations == other.transformations,
            conditions.count == other.conditions.count
        else { return false }
        return zip(conditions, other.conditions).allSatisfy { left, right in
            guard case .identity(let one) = left, case .identity(let two) = right else { return left == right }
            return one.count == two.count && Set(one) == Set(two)
        }
    }
}
