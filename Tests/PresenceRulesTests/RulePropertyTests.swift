import PresenceDocuments
import PresenceRules
import SIPCore
import Testing
import XMLCore

/// Random rulesets: properties that hold for all of them, and the comparison with an evaluator that follows the text of the standards.
@Suite struct RulePropertyTests {
    static let seeds = 100
    static let users = ["sip:a@example.com", "sip:b@example.com", "sip:c@example.net", "tel:+15555550142"]
    static let domains = ["example.com", "example.net"]
    static let spheres = [nil, "work", "home"]
    static let moments: [Int64] = [-1, 0, 1, 2, 3, 4]
    static let listNames = ["one", "two"]

    static func lists() throws -> ListDocuments {
        try Samples.lists(Samples.list("one", users[0], users[2]) + Samples.list("two", users[1], users[3]))
    }

    static func dateTime(_ hour: Int64) -> DateTime {
        DateTime(nanosecondsSince1970: Samples.noon.nanosecondsSince1970 + hour * 3_600_000_000_000)
    }

    static func identity(_ generator: inout SeededGenerator) -> RuleCondition {
        .identity(
            (0..<Int.random(in: 1...2, using: &generator)).map { _ in
                if generator.chance(50) { return .one(id: generator.pick(users)) }
                let exceptions = (0..<Int.random(in: 0...2, using: &generator)).map { _ in
                    generator.chance(50) ? IdentityException(id: generator.pick(users)) : IdentityException(domain: generator.pick(domains))
                }
                return .many(domain: generator.chance(50) ? generator.pick(domains) : nil, exceptions: exceptions)
            })
    }

    static func conditions(_ generator: inout SeededGenerator, oma: Bool) throws -> [RuleCondition] {
        var conditions: [RuleCondition] = []
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<5: conditions.append(identity(&generator))
        case 5 where oma: conditions.append(.externalList(anchors: [Samples.anchor("list[@name=%22\(generator.pick(listNames))%22]")]))
        case 6 where oma: conditions.append(.otherIdentity)
        case 7 where oma: conditions.append(.anonymousRequest)
        default: break
        }
        if generator.chance(25) { conditions.append(.sphere(generator.pick(["work", "home"]))) }
        if generator.chance(25) {
            let periods = (0..<Int.random(in: 1...2, using: &generator)).map { _ in
                let from = Int64.random(in: 0...2, using: &generator)
                return ValidityPeriod(from: dateTime(from), until: dateTime(from + Int64.random(in: 0...2, using: &generator)))
            }
            conditions.append(.validity(periods))
        }
        if generator.chance(5) { conditions.append(.other(try unknown)) }
        return conditions
    }

    static var unknown: XMLFragment { get throws { try XMLFragment(parsing: Array("<x:a xmlns:x='urn:example:extension'/>".utf8)) } }

    static func transformations(_ generator: inout SeededGenerator) -> [RuleTransformation] {
        var all: [RuleTransformation] = []
        for component in PresenceComponent.allCases where generator.chance(40) {
            let isAll = generator.chance(50)
            let members: [ComponentSelector] = [.class(generator.pick(["work", "home"])), .occurrence(generator.pick(["im", "p", "d"]))]
            all.append(.components(component, ComponentSelection(all: isAll, members: isAll ? [] : members)))
        }
        for attribute in PresenceAttribute.allCases where generator.chance(20) { all.append(.attribute(attribute, generator.chance(70))) }
        if generator.chance(30) { all.append(.userInput(generator.pick(UserInputPermission.allCases))) }
        if generator.chance(20) {
            let name = ElementName(namespace: "urn:example:extension", localName: generator.pick(["in-tuple", "in-person"]))
            all.append(.unknownAttribute(name, generator.chance(70)))
        }
        if generator.chance(5) { all.append(.allAttributes) }
        return all
    }

    static func rule(_ id: Int, _ generator: inout SeededGenerator, oma: Bool) throws -> PresenceRule {
        PresenceRule(
            id: "r\(id)", conditions: try conditions(&generator, oma: oma),
            handling: generator.chance(90) ? generator.pick(SubscriptionHandling.allCases) : nil,
            transformations: transformations(&generator))
    }

    static func rules(_ generator: inout SeededGenerator, oma: Bool) throws -> [PresenceRule] {
        try (0..<Int.random(in: 0...6, using: &generator)).map { try rule($0, &generator, oma: oma) }
    }

    static func watchers() throws -> [RuleWatcher] {
        try users.map { try Samples.watcher($0) } + [
            .anonymous, try Samples.watcher("sip:stranger@example.org"), try Samples.watcher(users[0], users[3]),
        ]
    }

    /// Decisions of a ruleset for all watchers, spheres and moments.
    static func decisions(_ rules: [PresenceRule], reasons: Int = 0) throws -> [Decision] {
        let compiled = CompiledRules(PresenceRulesDocument(rules: rules), lists: try lists())
        return try watchers().flatMap { watcher in
            spheres.flatMap { sphere in
                moments.map { hour in
                    let context = DecisionContext(
                        now: Instant(nanosecondsSince1970: dateTime(hour).nanosecondsSince1970), sphere: PresentitySphere(sphere))
                    return compiled.decide(watcher, in: context, reasons: reasons)
                }
            }
        }
    }

    @Test("RFC 4745 10: adding a rule never lowers a decision and removes no grant, without OMA's precedence [R620]")
    func adding() throws {
        for seed in 0..<Self.seeds {
            var generator = SeededGenerator(seed)
            let rules = try Self.rules(&generator, oma: false)
            let more = rules + [try Self.rule(99, &generator, oma: false)]
            for (before, after) in zip(try Self.decisions(rules), try Self.decisions(more)) {
                #expect(after.handling >= before.handling && before.grants.isSubset(of: after.grants), "seed \(seed)")
            }
        }
    }

    @Test(
        "OMA: adding a rule without a condition on the identity, or for anonymous watchers, lowers nothing beside lists and other identities [R615]"
    )
    func addingOMA() throws {
        for seed in 0..<Self.seeds {
            var generator = SeededGenerator(seed)
            let rules = try Self.rules(&generator, oma: true)
            var added = try Self.rule(99, &generator, oma: false)
            added.conditions = generator.chance(50) ? [] : [.anonymousRequest]
            for (before, after) in zip(try Self.decisions(rules), try Self.decisions(rules + [added])) {
                #expect(after.handling >= before.handling && before.grants.isSubset(of: after.grants), "seed \(seed)")
            }
        }
    }

    @Test("RFC 4745 10: the order of rules has no meaning [R620]")
    func order() throws {
        for seed in 0..<Self.seeds {
            var generator = SeededGenerator(seed)
            let rules = try Self.rules(&generator, oma: true)
            let shuffled = rules.shuffled(using: &generator)
            for (one, other) in zip(try Self.decisions(rules), try Self.decisions(shuffled)) {
                #expect(one.handling == other.handling && one.grants == other.grants && one.holdsUntil == other.holdsUntil, "seed \(seed)")
                #expect(one.matched.sorted { $0.rule < $1.rule } == other.matched.sorted { $0.rule < $1.rule }, "seed \(seed)")
            }
        }
    }

    @Test("a watcher that no rule names gets the default [R621]")
    func unnamed() throws {
        for seed in 0..<Self.seeds {
            var generator = SeededGenerator(seed)
            let rules = try (0..<4).map { number in
                var rule = try Self.rule(number, &generator, oma: false)
                rule.conditions.append(.identity([.one(id: generator.pick(Self.users)), .many(domain: generator.pick(Self.domains))]))
                return rule
            }
            let compiled = CompiledRules(PresenceRulesDocument(rules: rules))
            for unruled in UnruledHandling.allCases {
                for watcher in [RuleWatcher.anonymous, try Samples.watcher("sip:stranger@example.org")] {
                    let decision = compiled.decide(watcher, in: DecisionContext(now: Samples.noon, unruled: unruled))
                    #expect(decision.handling == unruled.handling && decision.origin == .unruled, "seed \(seed)")
                }
            }
        }
    }

    @Test("RFC 4745 6.2: an unknown element anywhere in a rule never adds a grant [R611]")
    func unknownElements() throws {
        for seed in 0..<Self.seeds {
            var generator = SeededGenerator(seed)
            let rules = try Self.rules(&generator, oma: false)
            var text = String(decoding: PresenceRulesDocument(rules: rules).encode(), as: UTF8.self)
            // Before or after any tag except the declaration and the document element.
            let tags = text.indices.filter { text[$0] == "<" && text[text.index(after: $0)] != "?" }.dropFirst()
            guard let place = tags.randomElement(using: &generator) else { continue }
            text.insert(contentsOf: "<x:a xmlns:x=\"urn:example:extension\"><x:all-services/>true</x:a>", at: place)
            guard let changed = try? PresenceRulesDocument.decode(Array(text.utf8)) else { continue }
            for (before, after) in zip(try Self.decisions(rules), try Self.decisions(changed.rules)) {
                #expect(after.handling <= before.handling && after.grants.isSubset(of: before.grants), "seed \(seed): \(text)")
            }
        }
    }

    @Test("decisions equal those of an evaluator that tries each rule by the text of the standards [R605, R606, R607, R612, R615, R620]")
    func reference() throws {
        for seed in 0..<Self.seeds {
            var generator = SeededGenerator(seed)
            let rules = try Self.rules(&generator, oma: true)
            let decisions = try Self.decisions(rules)
            var number = 0
            for watcher in try Self.watchers() {
                for sphere in Self.spheres {
                    for hour in Self.moments {
                        let expected = ReferenceEvaluator(rules: rules, watcher: watcher, sphere: sphere, now: Self.dateTime(hour)).decision
                        let found = decisions[number]
                        #expect(found.handling == expected.handling && found.grants == expected.grants, "seed \(seed): \(rules) \(watcher)")
                        number += 1
                    }
                }
            }
        }
    }

    @Test("a decision stays the same until its next moment, and with reasons is the same as without [R623, R624]")
    func until() throws {
        for seed in 0..<Self.seeds {
            var generator = SeededGenerator(seed)
            let rules = try Self.rules(&generator, oma: true)
            let decisions = try Self.decisions(rules)
            for (index, (short, long)) in zip(decisions, try Self.decisions(rules, reasons: 100)).enumerated() {
                #expect(long.matched.count + long.unmatched.count == rules.count, "seed \(seed)")
                var long = long
                long.unmatched = []
                #expect(short == long, "seed \(seed)")
                // Moments follow each other in steps of an hour, the grid of all periods.
                let step = index % Self.moments.count
                guard step + 1 < Self.moments.count else { continue }
                let end = Self.dateTime(Self.moments[step + 1]).nanosecondsSince1970
                if let until = short.holdsUntil, until.nanosecondsSince1970 <= end { continue }
                let after = decisions[index + 1]
                #expect(short.handling == after.handling && short.grants == after.grants, "seed \(seed)")
            }
        }
    }

    @Test("RFC 5025 3.3: views only lose: twice is once, fewer grants see no more, and each view can be read [R637]")
    func views() throws {
        let document = try PIDFDocument.decode(Array(PresenceGrantsTests.rich.utf8))
        for seed in 0..<Self.seeds {
            var generator = SeededGenerator(seed)
            let few = PresenceGrants(Self.transformations(&generator))
            var more = few
            more.formUnion(PresenceGrants(Self.transformations(&generator)))
            #expect(few.isSubset(of: more), "seed \(seed)")
            let view = few.apply(to: document)
            // A selection by class needs the class, which the view may lack.
            if few.provides(.class) { #expect(few.apply(to: view) == view, "seed \(seed)") }
            #expect(few.apply(to: PresenceGrants.everything.apply(to: document)) == view, "seed \(seed)")
            let wide = more.apply(to: document)
            if more.provides(.class) { #expect(few.apply(to: wide) == view, "seed \(seed)") }
            let written = view.encode()
            #expect(try PIDFDocument.decode(written).encode() == written, "seed \(seed)")
            for tuple in view.tuples { #expect(wide.tuples.contains { $0.id == tuple.id }, "seed \(seed)") }
        }
    }
}

/// Evaluator without index and numbers, of rulesets of ``RulePropertyTests``.
struct ReferenceEvaluator {
    var rules: [PresenceRule]
    var watcher: RuleWatcher
    var sphere: String?
    var now: DateTime

    private func isWatcher(_ id: String) -> Bool { watcher.identities.contains { $0.aorKey == SIPURI(id)?.aorKey } }
    private func isIn(_ domain: String) -> Bool { watcher.identities.contains { $0.host == domain } }

    private func matches(_ match: IdentityMatch) -> Bool {
        switch match {
        case .one(let id, _): isWatcher(id)
        case .many(let domain, let exceptions, _):
            !watcher.isAnonymous && (domain.map(isIn) ?? true)
                && !exceptions.contains { $0.id.map(isWatcher) ?? false || $0.domain.map(isIn) ?? false }
        case .other: false
        }
    }

    private func names(_ condition: RuleCondition) -> Bool? {
        switch condition {
        case .identity(let matches): matches.contains(where: self.matches)
        case .externalList(let anchors):
            anchors.contains { anchor in
                let members = anchor.contains("one") ? [0, 2] : [1, 3]
                return members.contains { isWatcher(RulePropertyTests.users[$0]) }
            }
        default: nil
        }
    }

    private func isNamed(by rule: PresenceRule) -> Bool {
        let named = rule.conditions.compactMap(names)
        return !named.isEmpty && named.allSatisfy { $0 }
    }

    private func matches(_ condition: RuleCondition) -> Bool {
        switch condition {
        case .identity, .externalList: names(condition) ?? false
        case .sphere(let value): sphere == value
        case .validity(let periods): periods.contains { $0.from <= now && now < $0.until }
        case .anonymousRequest: watcher.isAnonymous
        case .otherIdentity: !watcher.isAnonymous && !rules.contains(where: isNamed)
        case .other: false
        }
    }

    /// 3: identity, 2: external-list, 1: other-identity, 0: none of them.
    private func rank(_ rule: PresenceRule) -> Int {
        rule.conditions.map { condition in
            switch condition {
            case .identity: 3
            case .externalList: 2
            case .otherIdentity: 1
            default: 0
            }
        }.max() ?? 0
    }

    var decision: (handling: SubscriptionHandling, grants: PresenceGrants) {
        let matching = rules.filter { $0.conditions.allSatisfy(matches) }
        let highest = matching.map(rank).max() ?? 0
        let counting = matching.filter { rank($0) == 0 || rank($0) == highest }
        return (counting.compactMap(\.handling).max() ?? .block, PresenceGrants(counting.flatMap(\.transformations)))
    }
}
