import PresenceDocuments
import SIPCore

extension CompiledRules {
    /// Decides what a watcher may see (RFC 4745 10, RFC 5025 4).
    /// - Parameter reasons: Largest number of rules that do not match and are reported with their reasons.
    public func decide(_ watcher: RuleWatcher, in context: DecisionContext, reasons: Int = 0) -> Decision {
        var decision = Decision(
            handling: .block, grants: PresenceGrants(), origin: .operatorDenied, matched: [], unmatched: [], unmatchedOmitted: 0,
            holdsUntil: nil, dependsOnSphere: false, listDocuments: [])
        if context.operatorVerdict == .deny { return decision }
        var known = KnownWatcher(watcher, in: self)
        if hasOtherIdentity, !watcher.isAnonymous { known.naming = ruleNaming(known) }
        var next = Int64.max
        var highest = Precedence.otherIdentity
        var indices: [Int] = []
        for number in reasons > 0 ? Array(rules.indices) : candidates(known) {
            let rule = rules[number]
            switch evaluate(rule, known, context, &next, &decision.dependsOnSphere) {
            case .matches(let conditions):
                decision.matched.append(RuleMatch(rule: rule.id, handling: rule.handling, conditions: conditions, counts: true))
                indices.append(number)
                if rule.precedence != .always { highest = max(highest, rule.precedence) }
            case .misses(let reason):
                if decision.unmatched.count < reasons {
                    decision.unmatched.append(RuleMiss(rule: rule.id, reason: reason))
                } else if reasons > 0 {
                    decision.unmatchedOmitted += 1
                }
            }
        }
        var handling: SubscriptionHandling?
        for (place, number) in indices.enumerated() {
            guard rules[number].precedence >= highest else {
                decision.matched[place].counts = false
                continue
            }
            if let own = rules[number].handling { handling = max(handling ?? .block, own) }
            decision.grants.formUnion(rules[number].grants)
        }
        decision.origin = .rules
        decision.handling = handling ?? .block
        if indices.isEmpty {
            decision.origin = .unruled
            decision.handling = context.unruled.handling
            if hasUnreadableList, !watcher.isAnonymous, context.unruled == .allow {
                decision.origin = .unreadableList
                decision.handling = .confirm
            } else if context.unruled == .allow {
                decision.grants = .everything
            }
        }
        decision.holdsUntil = next == .max ? nil : Instant(nanosecondsSince1970: next)
        if decision.dependsOnSphere { decision.holdsUntil = Instant.earliest(decision.holdsUntil, context.sphere.until) }
        if !watcher.isAnonymous { decision.listDocuments = listDocuments }
        return decision
    }

    /// Rules that the watcher may match, in document order.
    private func candidates(_ watcher: KnownWatcher) -> [Int] {
        var result: [Int] = []
        for identity in watcher.identities { result += rulesOfIdentity[identity] ?? [] }
        for membership in watcher.memberships { result += rulesOfList[membership.list] }
        if result.isEmpty { return rulesOfAll }
        result += rulesOfAll
        result.sort()
        var last = -1
        result.removeAll { number in
            defer { last = number }
            return number == last
        }
        return result
    }

    /// Watcher as numbers of this ruleset.
    struct KnownWatcher {
        let isAnonymous: Bool
        let identities: [Int32]
        let domains: [Int32]
        let memberships: [Membership]
        /// Rule with an identity or list that names the watcher; nil if there is none, or no condition needs it.
        var naming: Int?

        init(_ watcher: RuleWatcher, in rules: CompiledRules) {
            isAnonymous = watcher.isAnonymous
            let uris = watcher.identities.map { rules.canonical($0) }
            identities = uris.compactMap { rules.identities[$0.identityKey] }
            // A telephone number has no domain.
            domains = uris.compactMap { $0.scheme.hasHost ? rules.domains[$0.domainKey] : nil }
            memberships = identities.flatMap { rules.memberships[$0] ?? [] }
        }
    }

    private enum Outcome {
        case matches([RuleMatch.Reason])
        case misses(RuleMiss.Reason)
    }

    /// Evaluates conditions on the watcher, then sphere, then time, so that a boundary in time counts only if all others match.
    private func evaluate(
        _ rule: Rule, _ watcher: KnownWatcher, _ context: DecisionContext, _ next: inout Int64, _ dependsOnSphere: inout Bool
    ) -> Outcome {
        var matching: [RuleMatch.Reason] = []
        var hasSphere = false
        var hasValidity = false
        for condition in rule.conditions {
            switch condition {
            case .identity(let matches):
                if watcher.isAnonymous { return .misses(.anonymous) }
                switch match(matches, watcher) {
                case .success(let reason): matching.append(reason)
                case .failure(let miss): return .misses(miss.reason)
                }
            case .externalList(let numbers):
                if watcher.isAnonymous { return .misses(.anonymous) }
                guard let found = membership(of: watcher, in: numbers) else { return .misses(.notInList) }
                matching.append(.list(anchor: lists[found.list].anchor, name: lists[found.list].names[found.name]))
            case .anonymousRequest:
                guard watcher.isAnonymous else { return .misses(.notAnonymous) }
                matching.append(.anonymousRequest)
            case .otherIdentity:
                if watcher.isAnonymous { return .misses(.anonymous) }
                if hasUnreadableList { return .misses(.unreadableList) }
                if let naming = watcher.naming { return .misses(.namedBy(rule: rules[naming].id)) }
                matching.append(.otherIdentity)
            case .unknown(let name): return .misses(.unknownCondition(name))
            case .sphere: hasSphere = true
            case .validity: hasValidity = true
            }
        }
        if hasSphere {
            dependsOnSphere = true
            for case .sphere(let required) in rule.conditions {
                guard context.sphere.value == required else { return .misses(.sphere(required: required, actual: context.sphere.value)) }
                matching.append(.sphere(required))
            }
        }
        guard hasValidity else { return .matches(matching) }
        let now = context.now.nanosecondsSince1970
        var isValid = true
        for case .validity(let periods) in rule.conditions {
            var current: Period?
            for period in periods where period.from < period.until {
                if period.from > now { next = min(next, period.from) } else if period.until > now { next = min(next, period.until) }
                if current == nil, period.from <= now, now < period.until { current = period }
            }
            if let current {
                matching.append(
                    .validity(from: Instant(nanosecondsSince1970: current.from), until: Instant(nanosecondsSince1970: current.until)))
            } else {
                isValid = false
            }
        }
        return isValid ? .matches(matching) : .misses(.validity)
    }

    private struct Miss: Error {
        var reason: RuleMiss.Reason
    }

    /// The first child of an `identity` that matches (RFC 4745 7.1).
    private func match(_ matches: [Match], _ watcher: KnownWatcher) -> Result<RuleMatch.Reason, Miss> {
        var isExcepted = false
        for match in matches {
            switch match {
            case .one(let number, let id):
                if watcher.identities.contains(number) { return .success(.one(id: id)) }
            case .many(let domain, let name, let exceptIdentities, let exceptDomains):
                if let domain, !watcher.domains.contains(domain) { continue }
                if watcher.identities.contains(where: exceptIdentities.contains) || watcher.domains.contains(where: exceptDomains.contains)
                {
                    isExcepted = true
                    continue
                }
                return .success(.many(domain: name))
            }
        }
        return .failure(Miss(reason: isExcepted ? .excepted : .identity))
    }

    private func membership(of watcher: KnownWatcher, in numbers: [Int]) -> Membership? {
        watcher.memberships.first { numbers.contains($0.list) }
    }

    /// The first rule with an `identity` or `external-list` that names the watcher, whatever its other conditions are.
    private func ruleNaming(_ watcher: KnownWatcher) -> Int? {
        var numbers = rulesOfMany
        for identity in watcher.identities { numbers += rulesOfIdentity[identity] ?? [] }
        for membership in watcher.memberships { numbers += rulesOfList[membership.list] }
        return numbers.sorted().first { number in
            var isNamed = false
            for condition in rules[number].conditions {
                switch condition {
                case .identity(let matches): if case .failure = match(matches, watcher) { return false } else { isNamed = true }
                case .externalList(let lists): if membership(of: watcher, in: lists) == nil { return false } else { isNamed = true }
                case .sphere, .validity, .anonymousRequest, .otherIdentity, .unknown: continue
                }
            }
            return isNamed
        }
    }
}
