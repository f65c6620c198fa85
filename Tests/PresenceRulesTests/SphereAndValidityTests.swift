import PresenceDocuments
import PresenceRules
import SIPCore
import Testing

@Suite struct SphereAndValidityTests {
    private func matches(_ conditions: String, at moment: String, sphere: String? = nil) throws -> Bool {
        let document = try Samples.document(Samples.rule("r", conditions))
        return Samples.decide(document, .anonymous, at: try Samples.moment(moment), sphere: sphere).handling == .allow
    }

    @Test(
        "RFC 4745 7.2: the sphere matches by the exact token, and an undefined one never [R609]",
        arguments: [
            ("work", "work", true), ("work", "home", false), ("work", "Work", false), ("work", nil, false), ("unknown", nil, false),
        ])
    func sphere(_ required: String, _ actual: String?, _ expected: Bool) throws {
        #expect(try matches("<sphere value='\(required)'/>", at: "2026-05-04T09:00:00Z", sphere: actual) == expected)
    }

    private func sphere(_ persons: String..., at moment: String = "2026-05-04T09:00:00Z") throws -> PresentitySphere {
        let documents = try persons.map { spheres in
            try PIDFDocument.decode(
                Array(
                    """
                    <presence xmlns='urn:ietf:params:xml:ns:pidf' xmlns:dm='urn:ietf:params:xml:ns:pidf:data-model' \
                    xmlns:r='urn:ietf:params:xml:ns:pidf:rpid' entity='sip:mara@example.com'><dm:person id='p'>\(spheres)</dm:person></presence>
                    """.utf8))
        }
        return PresentitySphere(of: documents, at: try Samples.moment(moment))
    }

    @Test("RFC 5025 3.1.2: the sphere is the one that all publications agree on, and undefined otherwise [R609]")
    func computed() throws {
        let work = "<r:sphere><r:work/></r:sphere>"
        let home = "<r:sphere><r:home/></r:sphere>"
        #expect(try sphere(work).value == "work")
        #expect(try sphere(work, "", work).value == "work")
        #expect(try sphere(work, home).value == nil)
        #expect(try sphere(work + home).value == nil)
        #expect(try sphere().value == nil)
        #expect(try sphere("", "").value == nil)
        #expect(try sphere("<r:sphere><r:unknown/></r:sphere>").value == nil)
        #expect(try sphere(work, "<r:sphere><r:unknown/></r:sphere>").value == nil)
        #expect(try sphere("<r:sphere>gym</r:sphere>").value == "gym")
        #expect(try sphere(work, "<r:sphere><x xmlns='urn:example:extension'/></r:sphere>").value == nil)
    }

    @Test("RFC 4480 3.1: a sphere counts while it is valid, and its next boundary ends the decision that depends on it [R609, R623]")
    func timed() throws {
        let timed = "<r:sphere from='2026-05-04T08:00:00Z' until='2026-05-04T10:00:00Z'><r:work/></r:sphere>"
        let later = try sphere(timed, at: "2026-05-04T07:00:00Z")
        #expect(try later == PresentitySphere(nil, until: Samples.moment("2026-05-04T08:00:00Z")))
        let now = try sphere(timed)
        #expect(try now == PresentitySphere("work", until: Samples.moment("2026-05-04T10:00:00Z")))
        #expect(try sphere(timed, at: "2026-05-04T10:00:00Z") == .undefined)
        let rules = CompiledRules(try Samples.document(Samples.rule("r", Samples.many() + "<sphere value='home'/>")))
        let bob = try Samples.watcher("sip:bob@example.com")
        let context = DecisionContext(now: Samples.noon, sphere: now)
        #expect(rules.decide(bob, in: context).holdsUntil == now.until && rules.decide(bob, in: context).dependsOnSphere)
        // The sphere makes no difference to a watcher that the rule does not name.
        #expect(rules.decide(.anonymous, in: context).holdsUntil == nil && !rules.decide(.anonymous, in: context).dependsOnSphere)
    }

    private static let periods =
        "<validity><from>2026-05-04T10:00:00+02:00</from><until>2026-05-04T12:00:00+02:00</until>"
        + "<from>2026-05-04T15:00:00-05:00</from><until>2026-05-04T16:00:00-05:00</until></validity>"

    @Test(
        "RFC 4745 7.3: any of the periods is enough, from included and until excluded, in any time zone [R610]",
        arguments: [
            ("2026-05-04T07:59:59.999Z", false), ("2026-05-04T08:00:00Z", true), ("2026-05-04T09:59:59Z", true),
            ("2026-05-04T10:00:00Z", false),
            ("2026-05-04T19:59:59Z", false), ("2026-05-04T20:00:00Z", true), ("2026-05-04T21:00:00Z", false),
        ])
    func validity(_ moment: String, _ expected: Bool) throws {
        #expect(try matches(Self.periods, at: moment) == expected)
    }

    @Test("RFC 4745 7.3: a time without zone is UTC, a period that ends before it begins never matches, the year 9999 is no end [R610]")
    func special() throws {
        #expect(try matches(Samples.validity("2026-05-04T08:00:00", "2026-05-04T10:00:00"), at: "2026-05-04T09:00:00Z"))
        #expect(try !matches(Samples.validity("2026-05-04T10:00:00Z", "2026-05-04T08:00:00Z"), at: "2026-05-04T09:00:00Z"))
        let endless = try Samples.document(Samples.rule("r", Samples.validity("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z")))
        let decision = Samples.decide(endless, .anonymous)
        #expect(decision.handling == .allow && decision.holdsUntil == nil)
        #expect(try !matches(Self.periods + Samples.validity("2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z"), at: "2026-05-04T09:00:00Z"))
    }

    @Test("a decision holds until the next boundary of a rule that matches otherwise, and is the same until then [R623]")
    func holdsUntil() throws {
        let early = Samples.validity("2026-05-04T09:30:00Z", "2026-05-04T09:45:00Z")
        let document = try Samples.document(
            Samples.rule("mine", Samples.one("sip:bob@example.com") + Self.periods),
            Samples.rule("hers", Samples.one("sip:eve@example.com") + early),
            Samples.rule("work", "<sphere value='work'/>" + early, "confirm"))
        let bob = try Samples.watcher("sip:bob@example.com")
        let eve = try Samples.watcher("sip:eve@example.com")
        func next(_ watcher: RuleWatcher, _ moment: String, _ sphere: String? = nil) throws -> String? {
            let decision = Samples.decide(document, watcher, at: try Samples.moment(moment), sphere: sphere)
            return decision.holdsUntil.map { DateTime(nanosecondsSince1970: $0.nanosecondsSince1970).rfc3339() }
        }
        #expect(try next(bob, "2026-05-04T07:00:00Z") == "2026-05-04T08:00:00Z")
        #expect(try next(bob, "2026-05-04T08:00:00Z") == "2026-05-04T10:00:00Z")
        #expect(try next(bob, "2026-05-04T09:00:00Z", "work") == "2026-05-04T09:30:00Z")
        #expect(try next(bob, "2026-05-04T10:00:00Z") == "2026-05-04T20:00:00Z")
        #expect(try next(bob, "2026-05-04T22:00:00Z") == nil)
        #expect(try next(eve, "2026-05-04T09:00:00Z") == "2026-05-04T09:30:00Z")
        #expect(try next(.anonymous, "2026-05-04T09:00:00Z") == nil)
    }
}
