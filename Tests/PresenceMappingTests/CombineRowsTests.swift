import PresenceDocuments
import Testing

@testable import PresenceMapping

/// Each row of `combine` decides: turned round, or left out, it changes what is read.
@Suite("Rows of combine") struct CombineRowsTests {
    private func mapper(_ rows: String...) throws -> PresenceMapper {
        let text = "{ \"table\": \"combine\", \"spec\": \"X\", \"match\": \"order\", \"rows\": [\n\(rows.joined(separator: ",\n"))\n] }"
        return PresenceMapper(tables: try MappingTables(files: ["combine.json": Array(text.utf8)]))
    }

    private func row(_ order: Int, _ of: String, _ by: String, _ prefer: String) -> String {
        "{\"id\":\"T-\(order)\",\"section\":\"X\",\"of\":\"\(of)\",\"order\":\(order),\"by\":\"\(by)\",\"prefer\":\"\(prefer)\"}"
    }

    private func document(_ persons: (RPIDActivity, String)..., isIdle: Bool = false) -> PIDFDocument {
        var document = PIDFDocument(entity: "sip:alice@example.org")
        document.tuples = [PIDFTuple(id: "t", basic: .open)]
        document.persons = persons.enumerated().map { index, entry in
            var person = PIDFPerson(id: "p\(index)")
            person.rpid.activities = [RPIDList([entry.0])]
            person.timestamp = DateTime(entry.1)
            if isIdle { person.rpid.userInputs = [RPIDUserInput(isIdle: true)] }
            return person
        }
        return document
    }

    @Test("CMB-P1: of several persons the newest or the oldest decides, without a row the first")
    func person() throws {
        let both = document((.meeting, "2026-05-04T08:00:00Z"), (.away, "2026-05-04T09:00:00Z"))
        #expect(PresenceMapper().canonical(from: both).value.availability == 15500)
        #expect(try mapper(row(1, "person", "timestamp", "newest")).canonical(from: both).value.availability == 15500)
        #expect(try mapper(row(1, "person", "timestamp", "oldest")).canonical(from: both).value.availability == 6500)
        #expect(try mapper(row(1, "tuple", "basic", "open")).canonical(from: both).value.availability == 6500)
    }

    @Test("CMB-I1: idle adds to the number, or does not")
    func idle() throws {
        let busy = document((.meeting, "2026-05-04T08:00:00Z"), isIdle: true)
        #expect(PresenceMapper().canonical(from: busy).value.availability == 8000)
        #expect(try mapper(row(1, "idle", "class", "availability")).canonical(from: busy).value.availability == 6500)
        #expect(try mapper(row(1, "tuple", "basic", "open")).canonical(from: busy).value.availability == 6500)
    }

    private func states(_ entries: (availability: UInt32, manual: Bool, time: String)...) -> CategoriesDocument {
        CategoriesDocument(
            uri: "sip:bob@contoso.com",
            categories: entries.enumerated().map { index, entry in
                var state = StateDocument(type: .userState, availability: entry.availability)
                state.manual = entry.manual
                state.startTime = DateTime(entry.time)
                return CategoryElement(name: .state, instance: UInt32(index), body: .state(state))
            })
    }

    @Test("CMB-S1, CMB-S2: a manual state takes older ones out, and the greatest or least number of the rest decides")
    func state() throws {
        let all = states(
            (9500, false, "2026-05-04T07:00:00Z"), (3500, true, "2026-05-04T08:00:00Z"), (6500, false, "2026-05-04T09:00:00Z"))
        let (manual, greatest) = (row(1, "state", "manual", "newest"), row(2, "state", "availability", "greatest"))
        #expect(PresenceMapper().canonical(from: all).value.availability == 6500)
        #expect(try mapper(manual, greatest).canonical(from: all).value.availability == 6500)
        #expect(try mapper(greatest).canonical(from: all).value.availability == 9500)
        #expect(try mapper(manual, row(2, "state", "availability", "least")).canonical(from: all).value.availability == 3500)
    }
}
