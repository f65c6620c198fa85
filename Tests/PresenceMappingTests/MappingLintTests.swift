import Testing

@testable import PresenceMapping

@Suite("Mapping tables and their lint") struct MappingLintTests {
    private func tables(_ name: String, _ rows: String, match: String = "first") throws -> MappingTables {
        let text = "{ \"table\": \"\(name)\", \"spec\": \"X\", \"match\": \"\(match)\", \"rows\": [\n\(rows)\n] }"
        return try MappingTables(files: [name + ".json": Array(text.utf8)])
    }

    private func classes(_ ranges: [String]) -> String {
        ranges.enumerated().map {
            """
            {"id":"T-\($0.offset)","section":"X","availability":[\($0.element)],"class":"C","publish":\($0.element.split(separator: ",")[0]),
            "idle":false,"last-active":false,"willing":true,"text":"t"}
            """
        }.joined(separator: ",\n")
    }

    @Test("the tables of the release have no mistake")
    func release() {
        #expect(MappingLint.check(.embedded).isEmpty)
        #expect(MappingTables.embedded.tables.count == MappingTables.fileNames.count)
    }

    @Test("a gap between two ranges is named")
    func gap() throws {
        let mistakes = MappingLint.check(try tables("availability-classes", classes(["0,2999", "3001,null"])))
        #expect(mistakes.map(\.rule) == [.gap])
        #expect(mistakes.first?.message == "no row for 3000-3000")
    }

    @Test("a table that does not reach to the end has a gap")
    func openEnd() throws {
        #expect(MappingLint.check(try tables("availability-classes", classes(["0,2999"]))).map(\.rule) == [.gap])
    }

    @Test("overlapping ranges are named")
    func overlap() throws {
        #expect(MappingLint.check(try tables("availability-classes", classes(["0,3000", "3000,null"]))).map(\.rule) == [.overlap])
    }

    @Test("a row behind a wider one cannot be reached")
    func unreachable() throws {
        let rows = """
            {"id":"T-1","section":"X","availability":[0,null],"basic":"open"},
            {"id":"T-2","section":"X","availability":[6000,7499],"token":"on-the-phone","basic":"open","rpid":"on-the-phone"}
            """
        #expect(MappingLint.check(try tables("availability-to-pidf", rows)).map(\.rule) == [.unreachable])
    }

    @Test("rows that no vector uses are named when the hit rows are given")
    func notHit() {
        let all = MappingTables.embedded.rowIDs
        #expect(MappingLint.check(.embedded, hitRows: all).isEmpty)
        #expect(MappingLint.check(.embedded, hitRows: all.subtracting(["A2P-04"])).map(\.row) == ["A2P-04"])
    }

    @Test(
        "a broken table is refused with line, row and rule",
        arguments: [
            (#"{"id":"T-1","section":"X","availability":[0,null]}"#, MappingTableError.Rule.missingColumn),
            (#"{"id":"T-1","section":"X","availability":[9,0],"basic":"open"}"#, .columnType),
            (#"{"id":"T-1","section":"X","availability":[0,null],"basic":"ajar"}"#, .columnType),
            (#"{"id":"T-1","section":"X","availability":[0,null],"basic":"open","colour":"red"}"#, .unknownColumn),
            (#"{"id":"T-1","availability":[0,null],"basic":"open"}"#, .sectionMissing),
            (#"{"id":"an id with blanks","section":"X","availability":[0,null],"basic":"open"}"#, .rowID),
            (#"{"id":"T-1","section":"X","availability":[0,"#, .notJSON),
            (#"{"id":"T-1","section":"X","availability":[0,-9223372036854775808],"basic":"open"}"#, .columnType),
        ])
    func broken(_ row: String, _ rule: MappingTableError.Rule) {
        let error = #expect(throws: MappingTableError.self) { try tables("availability-to-pidf", row) }
        #expect(error?.rule == rule)
        #expect(error?.file == "availability-to-pidf.json")
        #expect((error?.line ?? 0) >= 2)
    }

    @Test("a file that no table is called is refused")
    func unknownFile() {
        let error = #expect(throws: MappingTableError.self) { try MappingTables(files: ["pidf-to-moon.json": []]) }
        #expect(error?.rule == .unknownFile)
    }

    @Test("a changed row changes the outcome without any code")
    func override() throws {
        let rows = #"{"id":"T-1","section":"X","availability":[0,null],"basic":"open","rpid":"worship"}"#
        #expect(try tables("availability-to-pidf", rows).compiled.toPIDF.find(9500, token: nil)?.rpid == "worship")
    }

    @Test(
        "a word of combine that no code acts on is refused with those that are",
        arguments: [
            (#""of": "person", "order": 1, "by": "banana", "prefer": "newest""#, "\"by\" is \"banana\", not one of timestamp"),
            (
                #""of": "moon", "order": 1, "by": "timestamp", "prefer": "newest""#,
                "\"of\" is \"moon\", not one of activity, device, idle, person, state, tuple"
            ),
            (#""of": "state", "order": 1, "by": "manual", "prefer": "greatest""#, "\"prefer\" is \"greatest\", not one of newest"),
            (#""of": "idle", "order": 1, "by": "class", "prefer": "newest""#, "\"prefer\" is \"newest\", not one of availability, both"),
        ])
    func unknownWord(_ cells: String, _ message: String) {
        let error = #expect(throws: MappingTableError.self) {
            try tables("combine", #"{"id":"T-1","section":"X",\#(cells)}"#, match: "order")
        }
        #expect(error?.rule == .unknownWord)
        #expect(error?.message == message)
    }
}
