import EnhancedPresence
import PresenceDocuments
import PresenceRules
import SIPCore
import XMLCore

/// Translator between presence rules (RFC 4745, RFC 5025, OMA) and containers with members (MS-PRES 1.3.1.3).
///
/// Rules combine by union, and containers by precedence: user before domain before network before everyone, and the highest number within
/// each. A translation never gives a watcher more than its original, and says less where the other model cannot express it.
public struct PolicyBridge: Sendable {
    /// Domains of the networks.
    public let networks: NetworkDomains
    let keys: KeyReader

    /// Creates a translator.
    /// - Parameter canonical: Maps the URIs of one user to one, as for ``PresenceRules/CompiledRules``.
    public init(networks: NetworkDomains = NetworkDomains(), canonical: @escaping @Sendable (SIPURI) -> SIPURI = { $0 }) {
        self.networks = networks
        keys = KeyReader(canonical: canonical)
    }

    /// Rules as a Microsoft client sees them.
    public struct Memberships: Hashable, Sendable {
        /// Members of each container that has one; by user, domain, network and everyone, in order.
        public var members: [ContainerID: [ContainerMember]] = [:]
        /// Ids of the rules that have no counterpart and stay out of sight, in document order.
        public var hidden: [String] = []
    }

    /// Computes the memberships that the rules of a simple presentity amount to.
    public func memberships(from ruleset: PresenceRulesDocument) -> Memberships {
        let reading = read(ruleset)
        var result = Memberships()
        for (key, containers) in reading.held.sorted(by: { $0.key < $1.key }) {
            for container in containers { result.members[container, default: []].append(key.member) }
        }
        for (rule, isVisible) in zip(ruleset.rules, reading.isVisible) where !isVisible { result.hidden.append(rule.id) }
        return result
    }
}

/// Rules with the forms that they have.
struct RulesetReading {
    /// Form of each rule; nil: none.
    var forms: [RuleForm?]
    /// Why a rule has no form.
    var reasons: [InexpressibleRule?]
    /// Whether a rule is shown as members.
    var isVisible: [Bool]

    /// Containers of each member that is shown.
    var held: [MemberKey: Set<ContainerID>] {
        var held: [MemberKey: Set<ContainerID>] = [:]
        for (form, isVisible) in zip(forms, isVisible) where isVisible {
            guard let form else { continue }
            for key in form.keys { held[key, default: []].insert(form.container) }
        }
        return held
    }
}

extension PolicyBridge {
    /// Finds the rules that members express.
    ///
    /// An exception is expressed only by a member of its own, which containers prefer. `other-identity` is expressed only if no rule out of
    /// sight names a watcher, and only together with `anonymous-request`, because an `everyone` member includes anonymous watchers.
    /// - Parameter others: Members besides those of the rules, which exceptions may name.
    func read(_ ruleset: PresenceRulesDocument, besides others: [MemberKey] = []) -> RulesetReading {
        let (otherUsers, otherDomains) = Self.partition(others)
        var reading = RulesetReading(forms: [], reasons: [], isVisible: [])
        for rule in ruleset.rules {
            do throws(InexpressibleRule) {
                reading.forms.append(try form(of: rule))
                reading.reasons.append(nil)
                reading.isVisible.append(true)
            } catch {
                reading.forms.append(nil)
                reading.reasons.append(error)
                reading.isVisible.append(false)
            }
        }
        func hide(_ index: Int, _ element: String, _ reason: String) {
            reading.isVisible[index] = false
            reading.reasons[index] = InexpressibleRule(rule: ruleset.rules[index].id, element: element, reason: reason)
        }
        // A hidden rule takes its members away, so that exceptions of other rules may lose theirs.
        var isStable = false
        while !isStable {
            isStable = true
            var users = Set(otherUsers)
            var domains = Set(otherDomains)
            for (_, form) in reading.shown where form.kind == .members {
                users.formUnion(form.users)
                domains.formUnion(form.manys.compactMap(\.domain))
            }
            for (index, form) in reading.shown {
                guard let exception = foreignException(in: form, users: users, domains: domains) else { continue }
                hide(index, "except", "excludes '\(exception.prefix(60))', which is no member of a container")
                isStable = false
            }
        }
        let naming = ruleset.rules.indices.first { !reading.isVisible[$0] && ruleset.rules[$0].namesWatchers }
        for (index, form) in reading.shown where form.kind == .everyone {
            if let naming {
                hide(
                    index, "other-identity",
                    "excludes the watchers of the rule '\(ruleset.rules[naming].id.prefix(60))', which containers cannot express")
            } else if !reading.shown.contains(where: { $0.form.kind == .anonymous && $0.form.container == form.container }) {
                hide(index, "other-identity", "excludes anonymous watchers, and an everyone member does not")
            }
        }
        for (index, form) in reading.shown where form.kind == .anonymous {
            if !reading.shown.contains(where: { $0.form.kind == .everyone && $0.form.container == form.container }) {
                hide(index, "anonymous-request", "is no member of a container without other-identity beside it")
            }
        }
        return reading
    }
}

extension RulesetReading {
    /// Rules that are shown, with their indices.
    var shown: [(index: Int, form: RuleForm)] {
        forms.indices.compactMap { index in isVisible[index] ? forms[index].map { (index, $0) } : nil }
    }
}

extension PresenceRule {
    /// Whether the rule may name a watcher, and thereby keep `other-identity` from it.
    var namesWatchers: Bool {
        conditions.contains { condition in
            switch condition {
            case .identity, .externalList: true
            case .other(let fragment): fragment.localName == "external-list"
            default: false
            }
        }
    }
}
