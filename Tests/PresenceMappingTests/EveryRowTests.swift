import PresenceDocuments
import Testing

@testable import PresenceMapping

/// Rows that no document can reach would be dead words; this finds them without naming any.
@Suite("Every row can be used") struct EveryRowTests {
    let mapper = PresenceMapper()

    func rows(_ table: String) -> [MappingRow] { mapper.tables.tables[table]?.rows ?? [] }

    func pidf(_ change: (inout PIDFDocument) -> Void) -> Set<String> {
        var document = PIDFDocument(entity: "sip:alice@example.org")
        document.tuples = [PIDFTuple(id: "t", basic: .open)]
        document.persons = [PIDFPerson(id: "p")]
        change(&document)
        let read = mapper.canonical(from: document)
        return Set(read.rowIDs).union(mapper.categories(from: read.value).rowIDs).union(written(read.value))
    }

    func written(_ presence: CanonicalPresence) -> Set<String> {
        Set(mapper.pidf(from: presence).rowIDs).union(mapper.pidf(from: presence, profile: .rpidDraft).rowIDs)
            .union(mapper.pidf(from: presence, profile: .oma).rowIDs)
            .union(mapper.msrtcPIDF(from: presence).rowIDs).union(mapper.xpidf(from: presence).rowIDs)
            .union(mapper.legacyInterop(from: presence).rowIDs)
    }

    func categories(_ elements: CategoryElement...) -> Set<String> {
        let read = mapper.canonical(from: CategoriesDocument(uri: "sip:bob@contoso.com", categories: elements))
        return Set(read.rowIDs).union(written(read.value))
    }

    func state(_ availability: Int, _ token: String? = nil, _ change: (inout StateDocument) -> Void = { _ in }) -> Set<String> {
        var state = StateDocument(type: .aggregateState, availability: UInt32(availability))
        if let token { state.activities = [StateActivity(token: ActivityToken(rawValue: token))] }
        change(&state)
        return categories(CategoryElement(name: .state, instance: 1, body: .state(state)))
    }

    @Test(
        "tables of numbers and tokens",
        arguments: [
            "availability-to-pidf", "availability-to-msrtc-pidf", "availability-to-xpidf", "availability-classes", "activity-token-to-rpid",
        ])
    func numbers(_ table: String) {
        var hit: Set<String> = []
        for row in rows(table) {
            let range = row.range("availability")
            hit.formUnion(state((range?.lower ?? 0) + 1, row.text("token") ?? (table.hasPrefix("activity") ? "of-tomorrow" : nil)))
        }
        #expect(Set(rows(table).map(\.id)).subtracting(hit) == [])
    }

    @Test("rpid-to-availability and other-text-to-availability")
    func activities() {
        var hit: Set<String> = []
        for row in rows("rpid-to-availability") {
            hit.formUnion(
                pidf { document in
                    document.tuples[0].basic = row.text("basic").map { $0 == "open" ? .open : .closed }
                    let name = row.text("rpid") ?? "of-tomorrow"
                    if name == "other" { document.persons[0].rpid.activities = [RPIDList([], others: [PIDFNote("gone fishing")])] }
                    if name != "none" && name != "other" { document.persons[0].rpid.activities = [RPIDList([RPIDActivity(name)])] }
                })
        }
        for row in rows("other-text-to-availability") {
            let note = PIDFNote(row.text("text") ?? "")
            hit.formUnion(pidf { $0.persons[0].rpid.activities = [RPIDList([], others: [note])] })
        }
        hit.formUnion(pidf { $0.persons[0].rpid.activities = [RPIDList([RPIDActivity("of-tomorrow")])] })
        #expect(Set((rows("rpid-to-availability") + rows("other-text-to-availability")).map(\.id)).subtracting(hit) == [])
    }

    @Test("msrtc-pidf-to-availability and xpidf-to-availability")
    func legacy() {
        var hit: Set<String> = []
        for row in rows("msrtc-pidf-to-availability") {
            let document = MSRTCPIDFDocument(
                uri: "bob@contoso.com", availability: AggregateNumber(UInt32(row.range("availability-aggregate")?.lower ?? 0)),
                activity: AggregateNumber(UInt32(row.range("activity-aggregate")?.lower ?? 0)))
            hit.formUnion(mapper.canonical(from: document).rowIDs)
        }
        for row in rows("xpidf-to-availability") {
            var document = XPIDFDocument(presentity: "sip:otto@example.net;method=SUBSCRIBE")
            let address = XPIDFAddress(
                uri: "sip:otto@example.net", status: XPIDFStatus(row.text("status") ?? "of-tomorrow"),
                substatus: row.text("substatus").map { XPIDFSubstatus($0) })
            document.atoms = [XPIDFAtom(addresses: [address])]
            hit.formUnion(mapper.canonical(from: document).rowIDs)
        }
        #expect(Set((rows("msrtc-pidf-to-availability") + rows("xpidf-to-availability")).map(\.id)).subtracting(hit) == [])
    }

    @Test("places, time zones, languages, containers, capabilities, contacts, free/busy")
    func details() {
        var hit: Set<String> = []
        for row in rows("place-to-location") {
            hit.formUnion(
                pidf { document in
                    if let place = row.text("place") { document.persons[0].rpid.placeTypes = [RPIDList([LocationType(place)])] }
                    if let sphere = row.text("sphere") { document.persons[0].rpid.spheres = [RPIDList([RPIDSphere(sphere)])] }
                })
        }
        for row in rows("location-to-place") { hit.formUnion(state(3500) { $0.endpointLocation = row.text("location") ?? "A yurt" }) }
        for row in rows("time-zones") {
            hit.formUnion(
                state(3500) {
                    $0.timeZoneBias = row.integer("bias").map(Int64.init) ?? 7
                    $0.timeZoneName = row.text("name")
                })
        }
        for row in rows("languages") {
            let text = LocalizedText("x", lcid: UInt32(row.integer("lcid") ?? 60000))
            hit.formUnion(state(3500) { $0.activities = [StateActivity(custom: [text])] })
        }
        for row in rows("container-policy") {
            let container = row.integer("container").flatMap { ContainerID($0) }
            hit.formUnion(
                categories(CategoryElement(name: .note, container: container, body: .note(NoteDocument(bodies: [NoteBody("x")])))))
        }
        for row in rows("capabilities") {
            if row.text("direction") == nil {
                let list = CapabilityList(capabilities: [Capability(CapabilityName(rawValue: row.text("capability") ?? ""), render: true)])
                let services = ServicesDocument(services: [ServiceElement(uri: "sip:bob@contoso.com", capabilities: list)])
                hit.formUnion(categories(CategoryElement(name: .services, instance: 0, body: .services(services))))
            } else {
                var said = ServiceCapabilities()
                let element = ServiceCapabilities.booleans.first { $0.name == row.text("caps") }
                if let element { said[keyPath: element.value] = true }
                hit.formUnion(pidf { $0.tuples[0].capabilities = said })
            }
        }
        for row in rows("contact") {
            var card = ContactCardDocument()
            let type = ContactDetailType(rawValue: row.text("type") ?? "")
            switch row.text("kind") {
            case "phone": card.phones = [ContactPhone(type: type, uri: ContactURI("tel:+351211234567"))]
            case "email": card.identities = [ContactIdentity(emails: [ContactURI("bob@contoso.com")])]
            case "url": card.webAddresses = [ContactWebAddress("https://www.contoso.com", type: type)]
            default: card.photos = [ContactPhoto(type: type, uri: ContactURI("https://www.contoso.com/p.png"))]
            }
            hit.formUnion(categories(CategoryElement(name: .contactCard, instance: 0, body: .contactCard(card))))
            hit.formUnion(
                pidf { document in
                    var tuple = PIDFTuple(id: "x")
                    tuple.contact = PIDFContact(uri: (row.text("scheme") ?? "sip") + ":+351211234567")
                    if let relationship = row.text("relationship") {
                        tuple.rpid.relationships = [RPIDList([RPIDRelationship(relationship)])]
                    }
                    document.tuples.append(tuple)
                })
        }
        for row in rows("free-busy") {
            let slot = UInt8(row.integer("slot") ?? 0)
            let start = DateTime(nanosecondsSince1970: 0)
            if row.text("direction") == nil {
                var presence = CanonicalPresence(entity: "sip:bob@contoso.com")
                presence.freeBusy = CanonicalFreeBusy(start: start, slotSeconds: 900, slots: [slot])
                hit.formUnion(mapper.pidf(from: presence).rowIDs)
            } else {
                var status = TimedStatus(
                    from: start, until: DateTime(nanosecondsSince1970: 900_000_000_000),
                    basic: row.text("basic").map { $0 == "open" ? .open : .closed })
                if let rpid = row.text("rpid") { status.rpid.activities = [RPIDList([RPIDActivity(rpid)])] }
                hit.formUnion(pidf { $0.tuples[0].timedStatuses = [status] })
            }
        }
        let names = [
            "place-to-location", "location-to-place", "time-zones", "languages", "container-policy", "capabilities", "contact", "free-busy",
        ]
        #expect(Set(names.flatMap { rows($0).map(\.id) }).subtracting(hit) == [])
    }
}
