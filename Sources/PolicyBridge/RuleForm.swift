import EnhancedPresence
import PresenceDocuments
import XMLCore

/// Rule that has the form of a row: its container and the members that it stands for.
struct RuleForm: Equatable {
    enum Kind: Equatable {
        /// Users and domains.
        case members
        /// One of the networks, as the domains that it has by configuration.
        case network(String)
        /// Element `other-identity`.
        case everyone
        /// Element `anonymous-request`, which with `other-identity` of the same container stands for everyone.
        case anonymous
    }

    /// Element `many` with its exceptions.
    struct Many: Equatable {
        /// Domain; nil: all domains.
        var domain: String?
        var exceptUsers: [String] = []
        var exceptDomains: [String] = []
    }

    var container: ContainerID
    var kind: Kind
    var users: [String] = []
    var manys: [Many] = []

    /// Members of the form; an `anonymous` form has none of its own.
    var keys: [MemberKey] {
        switch kind {
        case .members: users.map { .user($0) } + manys.compactMap { $0.domain.map { .domain($0) } }
        case .network(let name): [.network(name)]
        case .everyone: [.everyone]
        case .anonymous: []
        }
    }

    /// Whether the rule stands for no member any more.
    var isEmpty: Bool { kind == .members && users.isEmpty && manys.isEmpty }

    /// Conditions of a rule of this form.
    var conditions: [RuleCondition] {
        switch kind {
        case .everyone: return [.otherIdentity]
        case .anonymous: return [.anonymousRequest]
        case .members, .network:
            return [
                .identity(
                    users.map { .one(id: "sip:" + $0) }
                        + manys.map { many in
                            .many(
                                domain: many.domain,
                                exceptions: many.exceptUsers.map { IdentityException(id: "sip:" + $0) }
                                    + many.exceptDomains.map { IdentityException(domain: $0) })
                        })
            ]
        }
    }
}

extension PolicyBridge {
    /// Reads a rule that has the form of a row.
    func form(of rule: PresenceRule) throws(InexpressibleRule) -> RuleForm {
        func fail(_ element: String, _ reason: String) -> InexpressibleRule {
            InexpressibleRule(rule: rule.id, element: element, reason: reason)
        }
        var form = RuleForm(container: .default, kind: .members)
        for condition in rule.conditions {
            switch condition {
            case .identity(let matches): try read(matches, of: rule, into: &form)
            case .otherIdentity: form.kind = .everyone
            case .anonymousRequest: form.kind = .anonymous
            case .sphere: throw fail("sphere", "is a condition that containers do not have")
            case .validity: throw fail("validity", "is a condition that containers do not have")
            case .externalList: throw fail("external-list", "is a condition that containers do not have")
            case .other(let fragment): throw fail(fragment.localName, "is a condition that Isthmus does not know")
            }
        }
        guard rule.conditions.count == 1 else {
            throw fail("conditions", "has \(rule.conditions.count) conditions, and a container needs exactly one")
        }
        if let action = rule.otherActions.first { throw fail(action.localName, "is an action that Isthmus does not know") }
        guard let row = ContainerGrants.row(of: rule) else {
            guard let handling = rule.handling, ContainerGrants.rows.contains(where: { $0.handling == handling }) else {
                throw fail("sub-handling", "has the value '\(rule.handling?.name ?? "")', which no container has")
            }
            throw fail(rule.foreignTransformation(handling), "is not what one of the containers 100, 200, 300, 400 and 32000 grants")
        }
        form.container = row.container
        if form.kind == .members { form.kind = network(of: form, id: rule.id, row) ?? .members }
        if form.kind == .members, form.manys.contains(where: { $0.domain == nil }) {
            throw fail("many", "has no domain, and is not one of the networks")
        }
        return form
    }

    private func read(_ matches: [IdentityMatch], of rule: PresenceRule, into form: inout RuleForm) throws(InexpressibleRule) {
        func fail(_ element: String, _ reason: String) -> InexpressibleRule {
            InexpressibleRule(rule: rule.id, element: element, reason: reason)
        }
        guard !matches.isEmpty else { throw fail("identity", "names no watcher") }
        var seen: Set<String> = []
        for match in matches {
            switch match {
            case .one(let id, let extensions):
                guard extensions.isEmpty else { throw fail("one", "has an extension that Isthmus does not know") }
                guard let user = keys.user(ofRule: id) else { throw fail("one", "has the id '\(id.prefix(60))', which is no SIP user") }
                if seen.insert(user).inserted { form.users.append(user) }
            case .many(let domain, let exceptions, let extensions):
                guard extensions.isEmpty else { throw fail("many", "has an extension that Isthmus does not know") }
                var many = RuleForm.Many()
                var excepted: Set<String> = []
                if let domain {
                    guard let key = keys.domain(ofRule: domain) else {
                        throw fail("many", "has the domain '\(domain.prefix(60))', which containers cannot name")
                    }
                    many.domain = key
                }
                for exception in exceptions {
                    if let id = exception.id {
                        guard let user = keys.user(ofRule: id) else {
                            throw fail("except", "has the id '\(id.prefix(60))', which is no SIP user")
                        }
                        if excepted.insert(user).inserted { many.exceptUsers.append(user) }
                    }
                    if let domain = exception.domain {
                        guard let key = keys.domain(ofRule: domain) else {
                            throw fail("except", "has the domain '\(domain.prefix(60))', which containers cannot name")
                        }
                        if excepted.insert(key).inserted { many.exceptDomains.append(key) }
                    }
                }
                form.manys.append(many)
            case .other(let fragment): throw fail(fragment.localName, "is an identity that Isthmus does not know")
            }
        }
    }

    /// The network that a form stands for: its rule has the id of the network, and names exactly its domains.
    private func network(of form: RuleForm, id: String, _ row: ContainerGrants) -> RuleForm.Kind? {
        guard form.users.isEmpty else { return nil }
        for type in NetworkDomains.types {
            let base = row.ruleID + "-" + type.rawValue
            guard id == base || id.hasPrefix(base + "-") else { continue }
            if let domains = networks.domains(of: type) {
                guard form.manys.count == domains.count, Set(form.manys.map(\.domain)) == Set(domains) else { return nil }
            } else {
                guard form.manys.count == 1, form.manys[0].domain == nil, networks.named.allSatisfy(form.manys[0].exceptDomains.contains)
                else { return nil }
            }
            return .network(type.rawValue)
        }
        return nil
    }

    /// The exception that keeps a form out of containers: it excludes watchers of whom containers know nothing; nil if there is none.
    func foreignException(in form: RuleForm, users: Set<String>, domains: Set<String>) -> String? {
        for many in form.manys {
            for domain in many.exceptDomains {
                switch form.kind {
                case .network where domains.contains(domain): continue
                case .network where many.domain == nil && networks.named.contains(domain): continue
                default: if many.domain == nil || many.domain == domain { return domain }
                }
            }
            let exceptDomains = Set(many.exceptDomains)
            for user in many.exceptUsers where !users.contains(user) {
                let domain = MemberKey.domain(of: user)
                guard many.domain == domain || (many.domain == nil && !exceptDomains.contains(domain)) else { continue }
                // The whole element is excepted.
                if exceptDomains.contains(domain) { continue }
                return user
            }
        }
        return nil
    }
}

extension PresenceRule {
    /// Name of a transformation that no container of the handling has; `transformations` if only the sum of them has no row.
    fileprivate func foreignTransformation(_ handling: SubscriptionHandling) -> String {
        let rows = ContainerGrants.rows.filter { $0.handling == handling }
        let granting = transformations.first { transformation in
            transformation.isUnknown || !rows.contains { $0.transformations.contains(transformation) }
        }
        return granting?.name ?? "transformations"
    }
}

extension RuleTransformation {
    /// Local name of the element.
    var name: String {
        switch self {
        case .components(let component, _): "provide-" + component.rawValue
        case .attribute(let attribute, _): attribute.permissionName
        case .userInput: "provide-user-input"
        case .unknownAttribute: "provide-unknown-attribute"
        case .allAttributes: "provide-all-attributes"
        case .other(let fragment): fragment.localName
        }
    }
}
