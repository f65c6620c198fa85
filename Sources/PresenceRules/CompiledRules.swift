import PresenceDocuments
import SIPCore
import XMLCore

/// Ruleset of one presentity with its lists, prepared for many decisions: identities are compared as numbers, and rules that cannot apply
/// to a watcher are not looked at.
///
/// A value depends on the documents only. When a document of ``listDocuments`` or the ruleset changes, compile again.
public struct CompiledRules: Sendable {
    /// Rule with resolved identities and lists.
    struct Rule: Sendable {
        var id: String
        var conditions: [Condition]
        /// Class for the precedence of OMA, the highest of the conditions.
        var precedence: Precedence
        var handling: SubscriptionHandling?
        var grants: PresenceGrants
    }

    /// Precedence of OMA Presence XDM: if a rule of a higher class matches, rules of lower classes do not count; `always` counts besides.
    enum Precedence: Int, Comparable, Sendable {
        case otherIdentity, externalList, identity, always
        static func < (left: Precedence, right: Precedence) -> Bool { left.rawValue < right.rawValue }
    }

    enum Condition: Sendable {
        case identity([Match])
        case sphere(String)
        case validity([Period])
        /// Indices into ``lists``.
        case externalList([Int])
        case anonymousRequest
        case otherIdentity
        case unknown(ElementName)
    }

    /// Child of `identity`.
    enum Match: Sendable {
        case one(Int32, id: String)
        case many(domain: Int32?, name: String?, exceptIdentities: [Int32], exceptDomains: [Int32])
    }

    /// Period in nanoseconds since 1970.
    struct Period: Sendable {
        var from: Int64
        var until: Int64
    }

    /// List that rules name.
    struct List: Sendable {
        /// URI as in the rule.
        var anchor: String
        /// Names of the lists that have entries; see ``Membership``.
        var names: [String]
    }

    /// Identity in a list.
    struct Membership: Sendable {
        /// Index into ``lists``.
        var list: Int
        /// Index into the names of the list.
        var name: Int
    }

    /// Part of a rule or list that has no effect, for the author of the rules and the log.
    public struct Problem: Hashable, Sendable, CustomStringConvertible {
        /// Id of the rule.
        public var rule: String
        /// English sentence with the element and its value.
        public var message: String

        public var description: String { "rule '\(rule)': \(message)" }
    }

    private(set) var rules: [Rule] = []
    private(set) var lists: [List] = []
    /// Numbers of the identities and domains that rules and lists name.
    private(set) var identities: [String: Int32] = [:]
    private(set) var domains: [String: Int32] = [:]
    private(set) var memberships: [Int32: [Membership]] = [:]
    /// Rules with a condition on the identity that only these numbers can match.
    private(set) var rulesOfIdentity: [Int32: [Int]] = [:]
    /// Rules that name a list.
    private(set) var rulesOfList: [[Int]] = []
    /// Rules that any watcher may match.
    private(set) var rulesOfAll: [Int] = []
    /// Rules with a `many`.
    private(set) var rulesOfMany: [Int] = []
    /// Whether a rule has the condition `other-identity`.
    private(set) var hasOtherIdentity = false
    /// Whether a list of a rule could not be read.
    private(set) var hasUnreadableList = false
    let canonical: @Sendable (SIPURI) -> SIPURI

    /// Paths of the resource-lists documents that decisions depend on, those that do not exist included, in order.
    package private(set) var listDocuments: [String] = []
    /// Parts without effect, at most 100.
    package private(set) var problems: [Problem] = []

    /// Compiles a ruleset.
    /// - Parameters:
    ///   - document: Rules of the presentity; nil: it has none.
    ///   - lists: Resource lists that `external-list` may name.
    ///   - limits: Limits of what is kept.
    ///   - canonical: Maps the URIs of one user to one, such as by domain aliases; applied to rules, lists and watchers.
    public init(
        _ document: PresenceRulesDocument?, lists documents: ListDocuments = ListDocuments(), limits: RuleLimits = RuleLimits(),
        canonical: @escaping @Sendable (SIPURI) -> SIPURI = { $0 }
    ) {
        self.canonical = canonical
        var compiler = Compiler(documents: documents, limits: limits)
        for rule in document?.rules ?? [] {
            let number = rules.count
            var conditions: [Condition] = []
            var precedence: [Precedence] = []
            for condition in rule.conditions {
                let compiled = compile(condition, of: rule.id, with: &compiler)
                conditions.append(compiled)
                switch compiled {
                case .identity: precedence.append(.identity)
                case .externalList: precedence.append(.externalList)
                case .otherIdentity: precedence.append(.otherIdentity)
                case .sphere, .validity, .anonymousRequest, .unknown: continue
                }
            }
            rules.append(
                Rule(
                    id: rule.id, conditions: conditions, precedence: precedence.max() ?? .always, handling: rule.handling,
                    grants: PresenceGrants(rule.transformations)))
            index(conditions, number)
        }
        listDocuments = compiler.used.sorted()
    }

    /// State of one compilation.
    private struct Compiler {
        var documents: ListDocuments
        var limits: RuleLimits
        var used: Set<String> = []
        var references = 0
        /// Index of a list; nil if it cannot be read.
        var numbers: [ListAnchor: Int?] = [:]
    }

    /// Enters a rule where watchers that may match it are looked up: by the narrowest of its conditions on the identity.
    private mutating func index(_ conditions: [Condition], _ number: Int) {
        var isIndexed = false
        for condition in conditions {
            switch condition {
            case .identity(let matches):
                let ones = matches.compactMap { match in if case .one(let identity, _) = match { identity } else { nil } }
                guard ones.count == matches.count else {
                    rulesOfMany.append(number)
                    continue
                }
                if !isIndexed { for identity in Set(ones) { rulesOfIdentity[identity, default: []].append(number) } }
                isIndexed = true
            case .externalList(let lists):
                if !isIndexed { for list in Set(lists) { rulesOfList[list].append(number) } }
                isIndexed = true
            case .sphere, .validity, .anonymousRequest, .otherIdentity, .unknown: continue
            }
        }
        if !isIndexed { rulesOfAll.append(number) }
    }

    private mutating func compile(_ condition: RuleCondition, of rule: String, with compiler: inout Compiler) -> Condition {
        switch condition {
        case .identity(let matches): return .identity(matches.compactMap { compile($0, of: rule) })
        case .sphere(let value): return .sphere(value)
        case .validity(let periods):
            return .validity(periods.map { Period(from: $0.from.nanosecondsSince1970, until: $0.until.nanosecondsSince1970) })
        case .externalList(let anchors): return .externalList(anchors.compactMap { list($0, of: rule, with: &compiler) })
        case .anonymousRequest: return .anonymousRequest
        case .otherIdentity:
            hasOtherIdentity = true
            return .otherIdentity
        case .other(let fragment):
            // A list with elements that are unknown may name any watcher.
            if fragment.localName == "external-list" { hasUnreadableList = true }
            report(rule, "the condition '\(fragment.localName.prefix(60))' in namespace '\(fragment.namespace.prefix(120))' is unknown")
            return .unknown(ElementName(namespace: fragment.namespace, localName: fragment.localName))
        }
    }

    private mutating func compile(_ match: IdentityMatch, of rule: String) -> Match? {
        switch match {
        case .one(let id, let extensions):
            guard extensions.isEmpty else {
                report(rule, "'one' with the unknown element '\(extensions[0].localName.prefix(60))' matches no watcher")
                return nil
            }
            guard let number = identity(id) else {
                report(rule, "RFC 4745 7.1.2: attribute id in 'one' has the value '\(id.prefix(60))', which is no URI")
                return nil
            }
            return .one(number, id: id)
        case .many(let domain, let exceptions, let extensions):
            guard extensions.isEmpty else {
                report(rule, "'many' with the unknown element '\(extensions[0].localName.prefix(60))' matches no watcher")
                return nil
            }
            var identities: [Int32] = []
            for id in exceptions.compactMap(\.id) {
                guard let number = identity(id) else {
                    report(rule, "RFC 4745 7.1.3: attribute id in 'except' has the value '\(id.prefix(60))', which is no URI")
                    return nil
                }
                identities.append(number)
            }
            return .many(
                domain: domain.map { self.domain($0) }, name: domain, exceptIdentities: identities,
                exceptDomains: exceptions.compactMap(\.domain).map { self.domain($0) })
        case .other(let fragment):
            report(rule, "'\(fragment.localName.prefix(60))' in 'identity' is unknown and matches no watcher")
            return nil
        }
    }

    /// Index of a list, read on its first use; nil if it cannot be read.
    private mutating func list(_ text: String, of rule: String, with compiler: inout Compiler) -> Int? {
        do throws(ListFailure) {
            let anchor = try ListAnchor(text, root: compiler.documents.root)
            if let known = compiler.numbers[anchor] {
                if known == nil { report(rule, "the list '\(text.prefix(200))' cannot be read, as reported above") }
                return known
            }
            compiler.numbers[anchor] = .some(nil)
            guard compiler.numbers.count <= compiler.limits.lists else { throw .tooManyLists(compiler.limits.lists) }
            let entries = try compiler.documents.entries(
                of: anchor, limits: compiler.limits, references: &compiler.references, documents: &compiler.used)
            let number = lists.count
            var names: [String: Int] = [:]
            var list = List(anchor: text, names: [])
            for entry in entries {
                guard let identity = identity(entry.uri) else {
                    report(rule, "RFC 4826 3.1: attribute uri in 'entry' has the value '\(entry.uri.prefix(60))', which is no URI")
                    continue
                }
                let name = names[entry.list] ?? list.names.count
                if name == list.names.count {
                    names[entry.list] = name
                    list.names.append(entry.list)
                }
                // The first entry of an identity names its list; entries of one list follow each other.
                if memberships[identity]?.last?.list != number {
                    memberships[identity, default: []].append(Membership(list: number, name: name))
                }
            }
            lists.append(list)
            rulesOfList.append([])
            compiler.numbers[anchor] = .some(number)
            return number
        } catch {
            hasUnreadableList = true
            report(rule, "the list '\(text.prefix(200))' cannot be read: \(error)")
            return nil
        }
    }

    /// Number of an identity; nil for text that is no URI.
    private mutating func identity(_ text: String) -> Int32? {
        guard let uri = SIPURI(text) else { return nil }
        return Self.number(canonical(uri).identityKey, in: &identities)
    }

    private mutating func domain(_ name: String) -> Int32 {
        Self.number(canonical(SIPURI(host: name)).domainKey, in: &domains)
    }

    private static func number(_ key: String, in table: inout [String: Int32]) -> Int32 {
        if let known = table[key] { return known }
        let number = Int32(truncatingIfNeeded: table.count)
        table[key] = number
        return number
    }

    private mutating func report(_ rule: String, _ message: String) {
        if problems.count < 100 { problems.append(Problem(rule: rule, message: message)) }
    }
}
