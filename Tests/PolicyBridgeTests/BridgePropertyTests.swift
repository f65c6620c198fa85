import EnhancedPresence
import PresenceDocuments
import PresenceRules
import Testing
import XMLCore

@testable import PolicyBridge

/// Random policies: a translation never gives a watcher more than its original, by the decisions of both models.
@Suite struct BridgePropertyTests {
    static let cases = 100_000

    /// Runs cases in both worlds until one fails; the failure is its seed and what was found.
    static func firstFailure(_ property: (World, inout SeededGenerator) throws -> String?) rethrows -> String? {
        for seed in 0..<cases {
            var generator = SeededGenerator(seed)
            if let failure = try property(World.both[seed % 2], &generator) { return "seed \(seed): \(failure)" }
        }
        return nil
    }

    static func text(_ rules: PresenceRulesDocument) -> String { String(decoding: rules.encode(), as: UTF8.self) }

    @Test("the containers of a ruleset give no watcher more than the rules do")
    func rulesToContainers() {
        let failure = Self.firstFailure { world, generator in
            let rules = world.ruleset(&generator)
            let sphere = generator.chance(50) ? "work" : nil
            let shown = world.bridge.memberships(from: rules)
            let original = world.decisions(rules, unruled: generator.pick(UnruledHandling.allCases), sphere: sphere)
            for (index, (translated, original)) in zip(world.decisions(shown.members), original).enumerated()
            where !translated.isAtMost(original) {
                return "\(world.watchers[index].address): \(translated) above \(original), \(shown), \(Self.text(rules))"
            }
            return nil
        }
        #expect(failure == nil)
    }

    @Test("the ruleset of memberships decides as the containers do, and gives the same memberships again")
    func containersToRules() {
        let failure = Self.firstFailure { world, generator in
            let members = World.members(&generator, others: true)
            let rules = world.bridge.ruleset(from: World.memberships(members))
            let unruled = generator.pick(UnruledHandling.allCases)
            let original = world.decisions(members, unruled: unruled)
            for (index, (translated, original)) in zip(world.decisions(rules, unruled: unruled), original).enumerated()
            where !translated.isSame(as: original) {
                return "\(world.watchers[index].address): \(translated) is not \(original), \(members), \(Self.text(rules))"
            }
            guard members[ContainerID(150) ?? .default] == nil else { return nil }
            // Each member keeps its highest container.
            var highest: [ContainerMember: ContainerID] = [:]
            for (container, members) in members { for member in members { highest[member] = max(highest[member] ?? container, container) } }
            let shown = world.bridge.memberships(from: rules)
            var found: [ContainerMember: ContainerID] = [:]
            for (container, members) in shown.members { for member in members { found[member] = container } }
            return found == highest && shown.hidden.isEmpty ? nil : "\(members) becomes \(shown), \(Self.text(rules))"
        }
        #expect(failure == nil)
    }

    @Test("an unchanged PUT changes no membership, and a changed one is refused or gives no watcher more than its rules")
    func put() {
        var accepted = 0
        let failure = Self.firstFailure { world, generator in
            let members = World.members(&generator, others: generator.chance(30))
            let memberships = World.memberships(members)
            var rules = world.bridge.ruleset(from: memberships)
            let unchanged = try? world.bridge.changes(from: rules, given: memberships)
            guard unchanged == [] else { return "unchanged: \(String(describing: unchanged)) \(members)" }
            Self.mutate(&rules, world, &generator)
            guard let changes = try? world.bridge.changes(from: rules, given: memberships) else { return nil }
            accepted += 1
            let after = World.applying(changes, to: members)
            for (index, (translated, original)) in zip(world.decisions(after), world.decisions(rules)).enumerated()
            where !translated.isAtMost(original) {
                return "\(world.watchers[index].address): \(translated) above \(original), \(members), \(changes), \(Self.text(rules))"
            }
            let again = try? world.bridge.changes(
                from: world.bridge.ruleset(from: World.memberships(after)), given: World.memberships(after))
            return again == [] ? nil : "after \(changes): \(String(describing: again))"
        }
        #expect(failure == nil)
        #expect(accepted > Self.cases / 4)
    }

    /// Edits that SIMPLE clients make.
    private static func mutate(_ rules: inout PresenceRulesDocument, _ world: World, _ generator: inout SeededGenerator) {
        for number in 0..<Int.random(in: 1...2, using: &generator) {
            if rules.rules.isEmpty || generator.chance(35) {
                rules.rules.append(World.rule("new\(number)", &generator))
                continue
            }
            let index = Int.random(in: rules.rules.indices, using: &generator)
            if generator.chance(30) {
                rules.rules.remove(at: index)
            } else if case .identity(var matches)? = rules.rules[index].conditions.first {
                if matches.count > 1, generator.chance(50) {
                    matches.remove(at: Int.random(in: matches.indices, using: &generator))
                } else if generator.chance(50), case .many(let domain, let exceptions, _)? = matches.last, !exceptions.isEmpty {
                    matches[matches.count - 1] = .many(domain: domain, exceptions: Array(exceptions.dropLast()))
                } else {
                    matches.append(World.match(&generator))
                }
                rules.rules[index].conditions = [.identity(matches)]
            } else {
                rules.rules[index].handling = generator.pick(SubscriptionHandling.allCases)
            }
        }
    }

    @Test("a change of members has the effect that it has in containers or is reported, and gives other watchers nothing")
    func changes() throws {
        var effects = 0
        let failure = try Self.firstFailure { world, generator in
            let rules = world.ruleset(&generator)
            let changes = World.changes(&generator)
            let before = world.bridge.memberships(from: rules)
            let edit = try world.bridge.ruleset(applying: changes, to: rules.encode())
            let after = try PresenceRulesDocument.decode(edit.octets)
            let wanted = World.applying(changes, to: before.members)
            let touched = Set(changes.compactMap { world.bridge.keys.key(of: $0.member)?.key })
            let resolver = ContainerResolver(memberships: World.memberships(wanted))
            let previous = ContainerResolver(memberships: World.memberships(before.members))
            let sphere = generator.chance(50) ? "work" : nil
            let unruled = generator.pick(UnruledHandling.allCases)
            let old = world.decisions(rules, unruled: unruled, sphere: sphere)
            let new = world.decisions(after, unruled: unruled, sphere: sphere)
            let containers = world.decisions(wanted)
            for (index, watcher) in world.watchers.enumerated() {
                func failed(_ text: String) -> String {
                    "\(watcher.address): \(text): \(old[index]), \(new[index]), \(containers[index]), \(changes), \(edit.conflicts) "
                        + "\(Self.text(rules)) \(String(decoding: edit.octets, as: UTF8.self))"
                }
                if !watcher.keys.contains(where: touched.contains) {
                    if !new[index].isSame(as: old[index]) { return failed("untouched") }
                    continue
                }
                guard let place = resolver.place(of: watcher.container), let key = Self.key(place, watcher) else { continue }
                guard touched.contains(key) else {
                    // Decided by another member before and after.
                    let wasPlace = previous.place(of: watcher.container)
                    if wasPlace == place, !new[index].isAtMost(old[index]) { return failed("widened") }
                    continue
                }
                let reports = edit.conflicts.filter { world.bridge.keys.key(of: $0.member)?.key == key }
                effects += reports.isEmpty ? 1 : 0
                if !new[index].isAtMost(containers[index]),
                    !reports.contains(where: { $0.kind == .stillAllowed || ($0.kind == .outweighs && unruled != .block) })
                {
                    return failed("more")
                }
                if !containers[index].isAtMost(new[index]), !reports.contains(where: { $0.kind == .outweighs }) { return failed("less") }
            }
            return nil
        }
        #expect(failure == nil)
        #expect(effects > Self.cases / 2)
    }

    static func key(_ place: ContainerResolution, _ watcher: World.Watcher) -> MemberKey? {
        switch place.rule {
        case .user: .user(watcher.address)
        case .domain: .domain(watcher.container.address.domain)
        case .sameEnterprise, .federated, .publicCloud: .network(place.rule.rawValue)
        case .everyone: .everyone
        default: nil
        }
    }

    @Test("rules that only changes of members wrote are shown whole, and decide as the ruleset of their memberships does")
    func written() throws {
        let failure = try Self.firstFailure { world, generator in
            var octets: [UInt8]?
            var history: [[MembershipChange]] = []
            for _ in 0..<3 {
                let changes = World.changes(&generator)
                history.append(changes)
                octets = try world.bridge.ruleset(applying: changes, to: octets).octets
            }
            let rules = try PresenceRulesDocument.decode(octets ?? [])
            let shown = world.bridge.memberships(from: rules)
            guard shown.hidden.isEmpty else { return "hidden: \(shown) \(Self.text(rules)) \(history)" }
            let again = world.bridge.ruleset(from: World.memberships(shown.members))
            let decisions = world.decisions(rules)
            for (index, (one, other)) in zip(decisions, world.decisions(again)).enumerated() where !one.isSame(as: other) {
                return "\(world.watchers[index].address): \(Self.text(rules)) \(Self.text(again))"
            }
            return nil
        }
        #expect(failure == nil)
    }
}
