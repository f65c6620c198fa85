import PresenceDocuments
import PresenceRules
import XMLCore

extension RulesetEditor {
    /// Rules out of sight that stand against the members that the changes added.
    func conflicts() -> [RuleConflict] {
        var conflicts: [RuleConflict] = []
        for (key, target) in targets.sorted(by: { $0.key < $1.key }) {
            guard let target, let row = ContainerGrants.row(of: target) else { continue }
            for index in ruleset.rules.indices where !isVisible[index] {
                guard let rule = edited(index) else { continue }
                conflicts += self.conflicts(of: rule, with: key, row).map { RuleConflict($0, byRule: rule.id, key.member, in: target) }
            }
        }
        return conflicts
    }

    private func conflicts(of rule: PresenceRule, with key: MemberKey, _ row: ContainerGrants) -> [RuleConflict.Kind] {
        var identity: [IdentityMatch]?
        var mayMatch = true
        var (hasList, isForOthers, isForAnonymous, hasUnreadableList) = (false, false, false, false)
        for condition in rule.conditions {
            switch condition {
            case .identity(let matches):
                identity = (identity ?? []) + matches
                mayMatch = mayMatch && matches.contains { includes($0, key) }
            case .externalList: hasList = true
            case .otherIdentity: isForOthers = true
            case .anonymousRequest: isForAnonymous = true
            case .other(let fragment): if fragment.localName == "external-list" { hasUnreadableList = true } else { mayMatch = false }
            case .sphere, .validity: continue
            }
        }
        let handling = rule.handling ?? .block
        let isMore = handling > row.handling || (row.handling == .allow && !PresenceGrants(rule.transformations).isSubset(of: row.grants))
        if key == .everyone {
            // Rules that name watchers decide about them alone, even while another condition of theirs does not match.
            if identity != nil || hasList || hasUnreadableList {
                return !hasUnreadableList && mayMatch && isMore ? [.stillAllowed, .outweighs] : [.outweighs]
            }
            return mayMatch && isMore ? [.stillAllowed] : []
        }
        guard mayMatch, !hasUnreadableList, !isForAnonymous else { return [] }
        if identity == nil, hasList || isForOthers {
            // The member, as an identity, outweighs them.
            if case .user = key { return [] }
            return hasList && handling < row.handling ? [.outweighed] : []
        }
        if isMore { return [.stillAllowed] }
        guard let identity, rule.handling != nil, handling < row.handling else { return [] }
        if case .user = key { return [] }
        let namesSome = identity.contains { match in
            guard includes(match, key) else { return false }
            if case .many(let domain, _, _) = match { return domain != nil && key.isNetwork }
            return true
        }
        return namesSome ? [.outweighed] : []
    }

    /// Whether an identity may include a watcher for whom containers decide by a member.
    private func includes(_ match: IdentityMatch, _ key: MemberKey) -> Bool {
        switch match {
        case .other: return false
        case .one(let id, let extensions):
            guard extensions.isEmpty, let user = bridge.keys.user(ofRule: id) else { return false }
            if case .user(let member) = key { return user == member }
            if held[.user(user)] != nil { return false }
            return includes(MemberKey.domain(of: user), key)
        case .many(let name, let exceptions, let extensions):
            guard extensions.isEmpty else { return false }
            let domain = name.flatMap { bridge.keys.domain(ofRule: $0) }
            let users = exceptions.compactMap(\.id).compactMap { bridge.keys.user(ofRule: $0) }
            let domains = exceptions.compactMap(\.domain).compactMap { bridge.keys.domain(ofRule: $0) }
            switch key {
            case .user(let user):
                let own = MemberKey.domain(of: user)
                return (domain ?? own) == own && !users.contains(user) && !domains.contains(own)
            case .domain(let own): return (domain ?? own) == own && !domains.contains(own)
            case .network, .everyone:
                guard let domain else { return true }
                return !domains.contains(domain) && includes(domain, key)
            }
        }
    }

    /// Whether containers decide by a member about some watcher of a domain who is no member.
    private func includes(_ domain: String, _ key: MemberKey) -> Bool {
        switch key {
        case .user: return false
        case .domain(let own): return domain == own
        case .network(let name): return held[.domain(domain)] == nil && bridge.networks.type(of: domain)?.rawValue == name
        case .everyone:
            return held[.domain(domain)] == nil && bridge.networks.type(of: domain).map { held[.network($0.rawValue)] == nil } ?? true
        }
    }
}

extension MemberKey {
    fileprivate var isNetwork: Bool { if case .network = self { true } else { false } }
}
