import EnhancedPresence
import PresenceDocuments
import PresenceRules
import XMLCore

/// Ruleset document after membership changes, with what the changes could not achieve.
public struct RulesetEdit: Hashable, Sendable {
    /// The document; rules that the changes do not concern keep their octets.
    public var octets: [UInt8]
    /// Rules that make a change less or more than it is for containers; a caller refuses the request if it must not pretend.
    public var conflicts: [RuleConflict]
}

/// Rule of another form that stands against an added member.
public struct RuleConflict: Hashable, Sendable, CustomStringConvertible {
    /// Effect of the rule.
    public enum Kind: Hashable, Sendable {
        /// The rule still gives watchers of the member more than the container does.
        case stillAllowed
        /// The rule refuses watchers of the member, and loses to it.
        case outweighed
        /// The rule names watchers, which keeps the `everyone` member from them and out of sight.
        case outweighs
    }

    /// Effect of the rule.
    public var kind: Kind
    /// Id of the rule.
    public var rule: String
    /// The added member.
    public var member: ContainerMember
    /// The container that has the member.
    public var container: ContainerID

    /// Creates a conflict.
    public init(_ kind: Kind, byRule rule: String, _ member: ContainerMember, in container: ContainerID) {
        self.kind = kind
        self.rule = rule
        self.member = member
        self.container = container
    }

    /// One sentence with rule, member and container.
    public var description: String {
        let name = member.value ?? member.type.rawValue
        return switch kind {
        case .stillAllowed: "rule '\(rule)' still gives '\(name)' more than container \(container)"
        case .outweighed: "rule '\(rule)' refuses watchers that '\(name)' in container \(container) allows"
        case .outweighs: "rule '\(rule)' decides about watchers instead of '\(name)' in container \(container)"
        }
    }
}

/// Reason why membership changes cannot become rules.
public enum RulesetEditFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The ruleset cannot be read.
    case unreadable(String)
    /// Rules cannot express the container.
    case unknownContainer(ContainerID)
    /// Rules cannot name the member.
    case unknownMember(ContainerMember)
    /// The resulting ruleset has too many rules, identities or octets.
    case tooLarge(String)

    /// What was wrong and what is allowed.
    public var description: String {
        switch self {
        case .unreadable(let error): "the ruleset cannot be read: \(error)"
        case .unknownContainer(let container): "container \(container) has no rule; 100, 200, 300, 400 and 32000 have"
        case .unknownMember(let member):
            "the member '\(member.type)' with the value '\((member.value ?? "").prefix(60))' is no SIP user, domain or network with domains"
        case .tooLarge(let error): "the resulting ruleset is refused: \(error)"
        }
    }
}

extension PolicyBridge {
    /// Applies changes by the Microsoft client of a simple presentity to its ruleset.
    ///
    /// The text is edited: rules whose members and exceptions stay the same keep every octet, and so does all between rules. A member that
    /// is in several containers afterwards keeps the highest, because rules would add the others to it.
    /// - Parameter document: The present ruleset; nil: there is none.
    public func ruleset(applying changes: [MembershipChange], to document: [UInt8]?) throws(RulesetEditFailure) -> RulesetEdit {
        let original = document ?? PresenceRulesDocument().encode()
        let tree: XMLTree
        let ruleset: PresenceRulesDocument
        do {
            tree = try XMLTree.parse(original, limits: PresenceRulesDocument.limits)
            ruleset = try PresenceRulesDocument(tree.root)
        } catch { throw .unreadable("\(error)") }
        var editor = RulesetEditor(ruleset, by: self)
        try editor.apply(changes)
        let octets = try editor.octets(of: tree) ?? document ?? original
        if octets != original {
            do { _ = try PresenceRulesDocument.decode(octets) } catch { throw .tooLarge("\(error)") }
        }
        return RulesetEdit(octets: octets, conflicts: editor.conflicts())
    }

    /// The change by which a user allows a pending watcher whom they acknowledged; nil if the watcher is not pending, or is a member.
    ///
    /// The watcher becomes a member by its address, in container 200 if it belongs to the enterprise, else in container 100.
    /// - Parameters:
    ///   - watcher: SIP URI of the watcher.
    ///   - handling: Present decision about the watcher.
    ///   - ruleset: The present rules.
    public func acknowledgement(
        of watcher: String, decidedAs handling: SubscriptionHandling, in ruleset: PresenceRulesDocument
    ) -> MembershipChange? {
        guard handling == .confirm, let (key, _) = keys.key(of: ContainerMember(.user, value: watcher)), case .user(let user) = key,
            read(ruleset).held[key] == nil
        else { return nil }
        let isColleague = networks.type(of: MemberKey.domain(of: user)) == .sameEnterprise
        guard let container = ContainerID(isColleague ? 200 : 100) else { return nil }
        return MembershipChange(.add, key.member, in: container)
    }
}

/// Edit of one ruleset.
struct RulesetEditor {
    let bridge: PolicyBridge
    let ruleset: PresenceRulesDocument
    /// Forms of the rules, changed by edits.
    private var forms: [RuleForm?]
    let isVisible: [Bool]
    /// New rules.
    private var added: [PresenceRule] = []
    private var addedForms: [RuleForm] = []
    /// Containers of the members that the changes name; no container: the member is gone.
    private(set) var targets: [MemberKey: ContainerID?] = [:]
    private(set) var held: [MemberKey: Set<ContainerID>]
    private var users: [String] = []
    private var domains: [String] = []

    init(_ ruleset: PresenceRulesDocument, by bridge: PolicyBridge) {
        self.bridge = bridge
        self.ruleset = ruleset
        let reading = bridge.read(ruleset)
        forms = reading.forms
        isVisible = reading.isVisible
        held = reading.held
    }

    mutating func apply(_ changes: [MembershipChange]) throws(RulesetEditFailure) {
        for change in changes {
            guard ContainerGrants.row(of: change.container) != nil else { throw .unknownContainer(change.container) }
            guard let (key, _) = bridge.keys.key(of: change.member) else { throw .unknownMember(change.member) }
            if case .network(let name) = key, bridge.networks.domains(of: ContainerMemberType(rawValue: name))?.isEmpty == true {
                throw .unknownMember(change.member)
            }
            switch change.action {
            case .add: held[key, default: []].insert(change.container)
            case .remove: held[key]?.remove(change.container)
            }
            targets[key] = .some(nil)
        }
        for key in targets.keys {
            targets[key] = .some(held[key]?.max())
            held[key] = held[key]?.max().map { [$0] }
        }
        (users, domains) = PolicyBridge.partition(held.keys)
        for index in forms.indices {
            guard var form = forms[index] else { continue }
            drop(from: &form, index)
            forms[index] = form
            if isVisible[index] { updateExceptions(of: &form) }
            forms[index] = form
        }
        for (key, target) in targets.sorted(by: { $0.key < $1.key }) {
            if let target, let row = ContainerGrants.row(of: target) { add(key, row) }
        }
    }

    /// Takes members away from a form whose container is not theirs any more, whether it is shown or not.
    private mutating func drop(from form: inout RuleForm, _ index: Int) {
        func leaves(_ key: MemberKey) -> Bool {
            guard let target = targets[key] else { return false }
            return target != form.container
        }
        switch form.kind {
        case .members:
            form.users.removeAll { leaves(.user($0)) }
            form.manys.removeAll { $0.domain.map { leaves(.domain($0)) } ?? false }
        case .network(let name): if leaves(.network(name)) { form = Self.emptied(form) }
        case .everyone: if leaves(.everyone) { form = Self.emptied(form) }
        case .anonymous:
            let isOurs = isVisible[index] || ContainerGrants.row(of: form.container)?.wrote(ruleset.rules[index].id) == true
            if isOurs, leaves(.everyone) { form = Self.emptied(form) }
        }
    }

    private static func emptied(_ form: RuleForm) -> RuleForm { RuleForm(container: form.container, kind: .members) }

    /// Keeps the exceptions of a shown form those of the members that containers prefer to it.
    private func updateExceptions(of form: inout RuleForm) {
        for place in form.manys.indices {
            var many = form.manys[place]
            many.exceptUsers.removeAll { targets[.user($0)] != nil && held[.user($0)] == nil }
            if case .network = form.kind {
                many.exceptDomains.removeAll { domain in
                    targets[.domain(domain)] != nil && held[.domain(domain)] == nil
                        && !(many.domain == nil && bridge.networks.named.contains(domain))
                }
                for domain in domains where targets[.domain(domain)] != nil && (many.domain ?? domain) == domain {
                    if !many.exceptDomains.contains(domain) { many.exceptDomains.append(domain) }
                }
            }
            let before = form.manys[place]
            let (excepted, exceptDomains) = (Set(many.exceptUsers), Set(many.exceptDomains))
            for user in users where !excepted.contains(user) {
                let domain = MemberKey.domain(of: user)
                guard many.domain ?? domain == domain, !exceptDomains.contains(domain) else { continue }
                // Exceptions of a domain that is not excepted any more, and of new members.
                if targets[.user(user)] != nil || before.exceptDomains.contains(domain) { many.exceptUsers.append(user) }
            }
            form.manys[place] = many
        }
    }

    /// Adds a member to the rule of a container, or a rule for it.
    private mutating func add(_ key: MemberKey, _ row: ContainerGrants) {
        for index in forms.indices where isVisible[index] {
            if let form = forms[index], form.container == row.container, form.keys.contains(key) { return }
        }
        switch key {
        case .network(let name):
            guard let form = bridge.networkForm(ContainerMemberType(rawValue: name), users: users, domains: domains) else { return }
            append(form, row, suffix: "-" + name)
        case .everyone:
            append(RuleForm(container: row.container, kind: .everyone), row, suffix: "-everyone")
            append(RuleForm(container: row.container, kind: .anonymous), row, suffix: "-anonymous")
        case .user, .domain:
            let own = forms.indices.first { index in
                isVisible[index] && forms[index]?.kind == .members && forms[index]?.container == row.container
                    && row.wroteMembers(ruleset.rules[index].id)
            }
            func extend(_ form: inout RuleForm) {
                if case .user(let user) = key { form.users.append(user) }
                if case .domain(let domain) = key { form.manys.append(bridge.many(domain, users: users)) }
            }
            if let own, var form = forms[own] {
                extend(&form)
                forms[own] = form
            } else if let own = addedForms.firstIndex(where: { $0.kind == .members && $0.container == row.container }) {
                extend(&addedForms[own])
                added[own].conditions = addedForms[own].conditions
            } else {
                var form = RuleForm(container: row.container, kind: .members)
                extend(&form)
                append(form, row, suffix: "")
            }
        }
    }

    private mutating func append(_ form: RuleForm, _ row: ContainerGrants, suffix: String) {
        var form = form
        form.container = row.container
        var rule = PolicyBridge.rule(row, suffix: suffix, form)
        let taken = Set(ruleset.rules.map(\.id)).union(added.map(\.id))
        let base = rule.id
        var number = 2
        while taken.contains(rule.id) {
            rule.id = "\(base)-\(number)"
            number += 1
        }
        added.append(rule)
        addedForms.append(form)
    }
}

// MARK: text

extension RulesetEditor {
    /// Rules after the edit; nil: removed.
    func edited(_ index: Int) -> PresenceRule? {
        var rule = ruleset.rules[index]
        guard let form = forms[index], let before = try? bridge.form(of: rule), form != before else { return rule }
        if form.isEmpty { return nil }
        rule.conditions = form.conditions
        return rule
    }

    /// The edited text; nil if nothing changes.
    func octets(of tree: XMLTree) throws(RulesetEditFailure) -> [UInt8]? {
        let source = tree.source
        var result: [UInt8] = []
        var cursor = 0
        for (index, element) in tree.root.children.enumerated() {
            let rule = edited(index)
            guard rule != ruleset.rules[index] else { continue }
            result += source[cursor..<element.sourceRange.lowerBound]
            if let rule { result += try Self.text(of: rule) }
            cursor = element.sourceRange.upperBound
        }
        var new: [UInt8] = []
        for rule in added { new += try Self.text(of: rule) }
        if cursor == 0, new.isEmpty { return nil }
        if let content = tree.root.contentRange {
            result += source[cursor..<content.upperBound]
            result += new
            cursor = content.upperBound
        } else {
            let end = tree.root.sourceRange.upperBound
            result += source[cursor..<end - 2] + Array(">".utf8) + new + Array("</\(tree.root.qualifiedName)>".utf8)
            cursor = end
        }
        return result + source[cursor...]
    }

    /// Text of a rule with the declarations that it needs.
    private static func text(of rule: PresenceRule) throws(RulesetEditFailure) -> [UInt8] {
        let document = PresenceRulesDocument(rules: [rule]).encode()
        do {
            return try XMLTree.parse(document, limits: PresenceRulesDocument.limits).root.children.flatMap { $0.fragment().bytes }
        } catch { throw .tooLarge("\(error)") }
    }
}
