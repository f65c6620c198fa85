import PresenceDocuments
import PresenceRules
import SIPCore
import XCAP
import XMLCore

private let context = DecisionContext(now: Instant(secondsSince1970: 1_777_885_200), sphere: PresentitySphere("work"))
private let watcher = SIPURI("sip:bob@example.com").map { RuleWatcher($0) } ?? .anonymous
private let xcapRoot = "https://xcap.example.com/xcap-root"

private func ruleset(_ size: Int, _ conditions: (Int) -> [RuleCondition]) -> PresenceRulesDocument {
    PresenceRulesDocument(rules: (0..<size).map { PresenceRule(id: "r\($0)", conditions: conditions($0), handling: .allow) })
}

extension Construct {
    /// Compilation of rules, and one decision by all of them.
    private static func decision(_ name: String, from smallest: Int = 1_250, _ conditions: @escaping (Int) -> [RuleCondition]) -> Construct
    {
        Construct("decision: \(name)", from: smallest) { size in
            let document = ruleset(size, conditions)
            return {
                let decision = CompiledRules(document).decide(watcher, in: context, reasons: .max)
                return decision.matched.count + decision.unmatched.count == size
            }
        }
    }

    /// Decisions by many rules, selectors of XCAP, and entities; the largest rulesets have 10,000 rules.
    static let decisions = [
        decision("rules of one identity each") { [.identity([.one(id: "sip:u\($0)@example.com")])] },
        decision("rules that all match") { _ in [.identity([.one(id: "sip:bob@example.com")])] },
        decision("rules of a domain with exceptions") {
            [.identity([.many(domain: "example.com", exceptions: [IdentityException(id: "sip:u\($0)@example.com")])])]
        },
        .bounded("xcap: steps of a node selector", by: "32 steps, then 400", from: 24) { size in
            let target = "/xcap-root/resource-lists/users/sip:mara@example.com/index/~~" + String(repeating: "/*", count: size)
            guard let root = XCAPRoot(xcapRoot) else { return { false } }
            return { (try? XCAPURI(target: target, root: root)) != nil }
        },
        // Each entity is ten of the one before it; reading stops at the DOCTYPE.
        Construct("xml: entities of entities, refused", from: 30) { size in
            let entities = (1..<size).map { "<!ENTITY e\($0) \"" + String(repeating: "&e\($0 - 1);", count: 10) + "\">" }
            let text = Array("<!DOCTYPE a [<!ENTITY e0 \"0\">\(entities.joined())]><a>&e\(size - 1);</a>".utf8)
            return {
                do throws(XMLError) { _ = try XMLTree.parse(text) } catch { return error.code == .documentType }
                return false
            }
        },
    ]
}
