import PresenceDocuments
import PresenceRules
import SIPCore
import Testing

/// Builders for rules, lists, watchers and moments.
enum Samples {
    static let namespaces =
        "xmlns='urn:ietf:params:xml:ns:common-policy' xmlns:pr='urn:ietf:params:xml:ns:pres-rules' "
        + "xmlns:ocp='urn:oma:xml:xdm:common-policy' xmlns:op='urn:oma:xml:prs:pres-rules' xmlns:x='urn:example:extension'"

    static func text(_ rules: String...) -> [UInt8] { Array("<ruleset \(namespaces)>\(rules.joined())</ruleset>".utf8) }

    /// Rule as XML.
    static func rule(_ id: String, _ conditions: String = "", _ handling: String? = "allow", _ transformations: String = "") -> String {
        "<rule id='\(id)'>" + (conditions.isEmpty ? "" : "<conditions>\(conditions)</conditions>")
            + (handling.map { "<actions><pr:sub-handling>\($0)</pr:sub-handling></actions>" } ?? "")
            + (transformations.isEmpty ? "" : "<transformations>\(transformations)</transformations>") + "</rule>"
    }

    static func one(_ id: String) -> String { "<identity><one id='\(id)'/></identity>" }

    static func many(_ attributes: String = "", _ exceptions: String = "") -> String {
        "<identity><many \(attributes)>\(exceptions)</many></identity>"
    }

    static func validity(_ from: String, _ until: String) -> String { "<validity><from>\(from)</from><until>\(until)</until></validity>" }

    static func external(_ selector: String, user: String = "sip:mara@example.com") -> String {
        "<ocp:external-list><ocp:entry anc='\(anchor(selector, user: user))'/></ocp:external-list>"
    }

    static func anchor(_ selector: String, user: String = "sip:mara@example.com") -> String {
        "https://xcap.example.com/root/resource-lists/users/\(user)/index/~~/resource-lists/\(selector)"
    }

    static func document(_ rules: String...) throws -> PresenceRulesDocument {
        try PresenceRulesDocument.decode(Array("<ruleset \(namespaces)>\(rules.joined())</ruleset>".utf8))
    }

    /// Lists of `sip:mara@example.com` below `https://xcap.example.com/root`.
    static func lists(_ content: String, others: [String: String] = [:]) throws -> ListDocuments {
        var documents = ListDocuments(root: "https://xcap.example.com/root")
        for (user, content) in others.merging(["sip:mara@example.com": content], uniquingKeysWith: { first, _ in first }) {
            let text = "<resource-lists xmlns='urn:ietf:params:xml:ns:resource-lists'>\(content)</resource-lists>"
            documents.add(try ResourceListsDocument.decode(Array(text.utf8)), at: "resource-lists/users/\(user)/index")
        }
        return documents
    }

    static func list(_ name: String, _ uris: String...) -> String {
        "<list name='\(name)'>" + uris.map { "<entry uri='\($0)'/>" }.joined() + "</list>"
    }

    static func watcher(_ uris: String...) throws -> RuleWatcher { RuleWatcher(try uris.map { try #require(SIPURI($0)) }) }

    static func moment(_ text: String) throws -> Instant {
        Instant(nanosecondsSince1970: try #require(DateTime(text)).nanosecondsSince1970)
    }

    /// 2026-05-04T09:00:00Z.
    static let noon = Instant(secondsSince1970: 1_777_885_200)

    static func decide(
        _ document: PresenceRulesDocument?, _ watcher: RuleWatcher, lists: ListDocuments = ListDocuments(), at now: Instant = noon,
        sphere: String? = nil, unruled: UnruledHandling = .block, reasons: Int = 100
    ) -> Decision {
        CompiledRules(document, lists: lists)
            .decide(watcher, in: DecisionContext(now: now, sphere: PresentitySphere(sphere), unruled: unruled), reasons: reasons)
    }
}
