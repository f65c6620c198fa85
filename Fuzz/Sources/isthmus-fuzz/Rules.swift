import PresenceDocuments
import PresenceRules
import SIPCore

extension FuzzTarget {
    /// Presence rules, and the resource lists that they name.
    static let rules = [
        FuzzTarget("presence-rules", seeds: ["Vectors/documents/presence-rules", "Fuzz/Seeds/documents/presence-rules"]) { bytes in
            guard let document = try? PresenceRulesDocument.decode(bytes) else { return }
            decide(document, ListDocuments(only: ResourceListsDocument(entries: ["sip:bob@example.com", "tel:+15555550142"])))
        },
        FuzzTarget("presence-rules-lists", seeds: ["Fuzz/Seeds/documents/resource-lists"]) { bytes in
            guard let lists = try? ResourceListsDocument.decode(bytes) else { return }
            let anchors = ["list%5b1%5d", "list%5b@name=%22team%22%5d/list%5b1%5d", "list"].map {
                "https://xcap.example.com/resource-lists/users/sip:mara@example.com/index/~~/resource-lists/\($0)"
            }
            let rule = PresenceRule(id: "r", conditions: [.externalList(anchors: anchors)], handling: .allow)
            decide(PresenceRulesDocument(rules: [rule]), ListDocuments(only: lists))
        },
        FuzzTarget("presence-rules-anchor", seeds: ["Fuzz/Seeds/documents/presence-rules"]) { bytes in
            let anchor = String(decoding: bytes, as: UTF8.self)
            let rule = PresenceRule(id: "r", conditions: [.externalList(anchors: [anchor])], handling: .allow)
            decide(PresenceRulesDocument(rules: [rule]), ListDocuments(only: ResourceListsDocument(entries: ["sip:bob@example.com"])))
        },
    ]

    private static let watchers: [RuleWatcher] =
        [.anonymous]
        + ["sip:bob@example.com", "sip:eve@guests.example.net", "tel:+15555550142"].compactMap { SIPURI($0).map { RuleWatcher($0) } }

    /// Decides for several watchers; the reasons must not change the decision, and each view must be readable PIDF.
    private static func decide(_ document: PresenceRulesDocument, _ lists: ListDocuments) {
        let rules = CompiledRules(document, lists: lists)
        var presence = PIDFDocument(entity: "sip:kai@example.com")
        presence.tuples = [PIDFTuple(id: "a", basic: .open), PIDFTuple(id: "b")]
        presence.tuples[0].contact = PIDFContact(uri: "sip:kai@example.com", priority: 500)
        presence.tuples[1].rpid.classes = [RPIDText("work")]
        presence.persons = [PIDFPerson(id: "p")]
        presence.persons[0].rpid.activities = [RPIDList([.busy])]
        presence.notes = [PIDFNote("note")]
        for watcher in watchers {
            for sphere in [nil, "work"] {
                let context = DecisionContext(now: Instant(secondsSince1970: 1_777_885_200), sphere: PresentitySphere(sphere))
                let short = rules.decide(watcher, in: context)
                var long = rules.decide(watcher, in: context, reasons: .max)
                require(long.matched.count + long.unmatched.count == document.rules.count, "a rule is neither matched nor unmatched")
                long.unmatched = []
                require(long == short, "reasons change the decision")
                require(
                    !watcher.isAnonymous || !short.matched.flatMap(\.conditions).contains(where: \.needsIdentity),
                    "an anonymous watcher has an identity")
                guard let view = short.view(of: presence, neverPublished: PIDFDocument(entity: "sip:kai@example.com")) else { continue }
                require((try? PIDFDocument.decode(view.encode())) == view, "a view reads otherwise")
            }
        }
    }
}

extension RuleMatch.Reason {
    fileprivate var needsIdentity: Bool {
        switch self {
        case .one, .many, .list, .otherIdentity: true
        case .sphere, .validity, .anonymousRequest: false
        }
    }
}
