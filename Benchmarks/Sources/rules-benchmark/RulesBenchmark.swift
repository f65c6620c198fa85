import Glibc
import Measurement
import PresenceDocuments
import PresenceRules
import SIPCore

/// `rules-benchmark`: processor time of one decision by 200 rules and a list of 500 entries, of compiling them, and of one view.
@main
struct RulesBenchmark {
    /// Aim for one decision, in nanoseconds.
    static let aim = 20_000.0

    static func main() {
        let arguments = Arguments()
        let benchmark = RulesBenchmark()
        let entries = benchmark.entries
        if arguments.profile(entries) { return }
        var table = Table("presence rules", "us", "to 20 us", "(range)", "per CPU s")
        for result in Contest(entries).run(quick: arguments.isQuick) {
            table.add(
                result.name, text(result.nanoseconds / 1_000), text(result.nanoseconds / aim),
                "\(text(result.spread.lowerBound))-\(text(result.spread.upperBound))x", perSecond(result.nanoseconds))
        }
        table.show(title: "Decisions by 200 rules and a list of 500 entries; the range is to the first row")
    }

    private let mixed: PresenceRulesDocument
    private let domains: PresenceRulesDocument
    private let lists: ListDocuments
    private let presence: PIDFDocument

    init() {
        let anchor = "https://xcap.example.com/resource-lists/users/sip:mara@example.com/index/~~/resource-lists/list%5b1%5d"
        let grants: [RuleTransformation] = [
            .components(.services, ComponentSelection(members: [.serviceScheme("sip"), .class("work")])),
            .components(.persons, ComponentSelection(all: true)), .attribute(.activities, true), .attribute(.note, true), .userInput(.bare),
        ]
        let period = ValidityPeriod(from: DateTime(nanosecondsSince1970: 0), until: DateTime(nanosecondsSince1970: .max / 2))
        // Ten kinds of rules in turn, as a user and clients may collect them over years.
        mixed = PresenceRulesDocument(
            rules: (0..<200).map { number in
                let identity = RuleCondition.identity([
                    .one(id: "sip:user\(number)@example.com"), .one(id: "sip:user\(number)@example.net"),
                ])
                let conditions: [RuleCondition] =
                    switch number % 10 {
                    case 0: [.externalList(anchors: [anchor])]
                    case 1:
                        [
                            .identity([
                                .many(domain: "partner\(number).example.org", exceptions: [IdentityException(id: "sip:x@example.org")])
                            ])
                        ]
                    case 2: [identity, .sphere("work")]
                    case 3: [identity, .validity([period])]
                    case 4: [.otherIdentity]
                    case 5: [.externalList(anchors: [anchor]), .sphere("home")]
                    default: [identity]
                    }
                return PresenceRule(id: "rule\(number)", conditions: conditions, handling: .allow, transformations: grants)
            })
        // No index helps: every rule has to be tried, and each fails by its last exception.
        domains = PresenceRulesDocument(
            rules: (0..<200).map { number in
                let exceptions =
                    (0..<4).map { IdentityException(id: "sip:user\($0)@example.com") } + [IdentityException(id: "sip:friend7@example.com")]
                return PresenceRule(
                    id: "rule\(number)",
                    conditions: [.identity([.many(domain: "example.com", exceptions: exceptions)]), .validity([period])],
                    handling: .allow, transformations: grants)
            })
        lists = ListDocuments(only: ResourceListsDocument(entries: (0..<500).map { "sip:friend\($0)@example.com" }))
        var presence = PIDFDocument(entity: "sip:mara@example.com")
        presence.tuples = (0..<3).map { number in
            var tuple = PIDFTuple(id: "t\(number)", basic: .open)
            tuple.contact = PIDFContact(uri: "sip:mara@host\(number).example.com", priority: 500)
            tuple.rpid.classes = [RPIDText("work")]
            tuple.notes = [PIDFNote("note")]
            return tuple
        }
        var person = PIDFPerson(id: "p")
        person.rpid.activities = [RPIDList([.busy])]
        person.rpid.moods = [RPIDList([RPIDMood("happy")])]
        presence.persons = [person]
        self.presence = presence
    }

    private var entries: [Contest.Entry] {
        let rules = CompiledRules(mixed, lists: lists)
        let worst = CompiledRules(domains, lists: lists)
        let context = DecisionContext(now: Instant(secondsSince1970: 1_777_885_200), sphere: PresentitySphere("work"))
        let friend = watcher("sip:friend250@example.com")
        let stranger = watcher("sip:stranger@example.net")
        let excepted = watcher("sip:friend7@example.com")
        guard rules.decide(friend, in: context).matched.count == 20, rules.decide(stranger, in: context).matched.count == 20,
            worst.decide(excepted, in: context).matched.isEmpty
        else {
            print("rules-benchmark: the decisions are not those that are to be measured")
            exit(1)
        }
        let grants = rules.decide(friend, in: context).grants
        func decide(_ name: String, _ rules: CompiledRules, _ watcher: RuleWatcher, reasons: Int = 0) -> Contest.Entry {
            Contest.Entry(name) { count in for _ in 0..<count { keep(rules.decide(watcher, in: context, reasons: reasons)) } }
        }
        return [
            decide("watcher in the list", rules, friend), decide("stranger", rules, stranger),
            decide("anonymous watcher", rules, .anonymous),
            decide("200 exceptions", worst, excepted), decide("with 100 reasons", rules, friend, reasons: 100),
            Contest.Entry("compile") { count in for _ in 0..<count { keep(CompiledRules(mixed, lists: lists)) } },
            Contest.Entry("view") { count in for _ in 0..<count { keep(grants.apply(to: presence)) } },
        ]
    }

    private func watcher(_ text: String) -> RuleWatcher { SIPURI(text).map { RuleWatcher($0) } ?? .anonymous }
}
