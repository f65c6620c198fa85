import PresenceDocuments
import PresenceFilters
import Testing

/// Filters of a subscription (RFC 4660 5.2).
@Suite struct FilterTableTests {
    static func what(_ expression: String) -> FilterContent { FilterContent(includes: [FilterSelection(expression)]) }

    static func document(_ filters: SimpleFilter..., package: String? = nil) -> SimpleFilterDocument {
        SimpleFilterDocument(package: package, bindings: Samples.bindings, filters: filters)
    }

    static func table(_ filters: SimpleFilter...) throws -> FilterTable {
        var table = FilterTable()
        try table.apply(SimpleFilterDocument(bindings: Samples.bindings, filters: filters))
        return table
    }

    static func filter(_ expression: String) throws -> CompiledFilter { try Samples.filter(what(expression)) }

    func find(_ table: FilterTable, _ uri: String, request: Bool = true, domain: String = "example.com") -> CompiledFilter? {
        table.filter(for: uri, isRequestURI: request, domain: domain)
    }

    @Test("RFC 4660 5.2.1: a filter is chosen by uri, then by domain, and without either for the Request-URI")
    func choice() throws {
        let table = try Self.table(
            SimpleFilter(id: "any", what: Self.what("//pidf:note")),
            SimpleFilter(id: "uri", scope: .resource("sip:Mara@Example.com"), what: Self.what("//pidf:basic")),
            SimpleFilter(id: "domain", scope: .domain("Example.NET"), what: Self.what("//pidf:contact")))
        #expect(try find(table, "SIP:Mara@example.COM") == Self.filter("//pidf:basic"))
        #expect(try find(table, "sip:mara@example.com") == Self.filter("//pidf:note"))
        #expect(find(table, "sip:mara@example.com", request: false) == nil)
        #expect(try find(table, "sip:kai@example.net", domain: "example.net") == Self.filter("//pidf:contact"))
        #expect(try find(table, "sip:kai@example.net", request: false, domain: "example.net") == Self.filter("//pidf:contact"))
        #expect(FilterTable().filter(for: "sip:kai@example.net", isRequestURI: true, domain: "example.net") == nil)
        #expect(FilterTable().isEmpty && !table.isEmpty)
    }

    @Test("RFC 4660 5.2.2: a refresh replaces, removes, suspends and resumes filters by their id")
    func refresh() throws {
        var table = try Self.table(SimpleFilter(id: "f", what: Self.what("//pidf:note")))
        try table.apply(Self.document(SimpleFilter(id: "f", what: Self.what("//pidf:basic"))))
        #expect(try find(table, "sip:mara@example.com") == Self.filter("//pidf:basic"))
        var suspended = SimpleFilter(id: "f", what: Self.what("//pidf:basic"))
        suspended.isEnabled = false
        try table.apply(Self.document(suspended))
        #expect(find(table, "sip:mara@example.com") == nil && !table.isEmpty)
        try table.apply(Self.document(SimpleFilter(id: "g", what: Self.what("//pidf:note"))))
        #expect(try find(table, "sip:mara@example.com") == Self.filter("//pidf:note"))
        var removal = SimpleFilter(id: "g")
        removal.removes = true
        try table.apply(Self.document(removal, SimpleFilter(id: "f", what: Self.what("//pidf:contact"))))
        #expect(try find(table, "sip:mara@example.com") == Self.filter("//pidf:contact"))
        removal.id = "f"
        try table.apply(Self.document(removal))
        removal.id = "unknown"
        try table.apply(Self.document(removal))
        #expect(table.isEmpty && table == FilterTable())
    }

    @Test(
        "RFC 4660 5.2: two enabled filters for one resource or domain are refused, and the table stays",
        arguments: [
            (SimpleFilter.Scope.request, SimpleFilter.Scope.request, "same Request-URI"),
            (.resource("sip:mara@example.com"), .resource("sip:mara@EXAMPLE.com"), "same uri"),
            (.domain("example.com"), .domain("example.COM"), "same domain"),
        ])
    func conflict(_ one: SimpleFilter.Scope, _ two: SimpleFilter.Scope, _ message: String) throws {
        var table = try Self.table(SimpleFilter(id: "a", scope: one))
        let before = table
        var second = SimpleFilter(id: "b", scope: two)
        do throws(FilterError) {
            try table.apply(Self.document(second))
            Issue.record("accepted")
        } catch {
            #expect(error.code == .conflict && error.message.contains("the filters 'a' and 'b' are for the \(message)"), "\(error)")
        }
        #expect(table == before)
        second.isEnabled = false
        try table.apply(Self.document(second))
        second.isEnabled = true
        #expect(throws: FilterError.self) { try table.apply(Self.document(second)) }
    }

    @Test("RFC 4660 5.2: filters for other packages, wrong expressions and too many filters are refused, and the table stays")
    func refused() throws {
        var table = try Self.table(SimpleFilter(id: "a", what: Self.what("//pidf:note")))
        let before = table
        func expectError(_ document: SimpleFilterDocument, _ code: FilterError.Code, _ message: String) {
            do throws(FilterError) {
                try table.apply(document)
                Issue.record("accepted, expected: \(message)")
            } catch {
                #expect(error.code == code && error.message.contains(message), "\(error)")
            }
            #expect(table == before)
        }
        expectError(
            Self.document(SimpleFilter(id: "a"), package: "presence.winfo"), .package,
            "RFC 4661 3.2: attribute package has the value 'presence.winfo'")
        expectError(
            Self.document(SimpleFilter(id: "a", what: Self.what("//no:note"))), .expression,
            "filter 'a': RFC 4661 5: the expression '//no:note' has no a prefix of 'ns-bindings' (RFC 4661 3.3) at octet 2")
        expectError(Self.document(SimpleFilter(id: "a", triggers: [FilterTrigger()])), .expression, "filter 'a': RFC 4661 3.6")
        expectError(
            Self.document(SimpleFilter(id: "a", triggers: [FilterTrigger(changes: [FilterChange("//pidf:note", by: "x")])])), .expression,
            "RFC 4661 3.6.1.3")
        let many = FilterTrigger(additions: Array(repeating: "//pidf:note", count: 33))
        expectError(Self.document(SimpleFilter(id: "a", triggers: [many])), .limit, "33 expressions, more than the 32 allowed")
        let filters = (0..<8).map { SimpleFilter(id: "b\($0)", scope: .domain("d\($0).example.com")) }
        expectError(SimpleFilterDocument(bindings: [], filters: filters), .limit, "9 filters, more than the 8 allowed")
        try table.apply(Self.document(SimpleFilter(id: "a"), package: "presence"))
    }

    @Test("The octets of a table read as an equal table, whatever the prefixes of each refresh")
    func storage() throws {
        var table = FilterTable()
        #expect(table.octets.isEmpty)
        #expect(try FilterTable(octets: []) == table)
        let trigger = FilterTrigger(
            changes: [FilterChange("//p:a[@q:k='\"' or p:b<2]", from: "1", to: "2", by: "1")], additions: ["//p:a/@xml:lang"],
            removals: ["/*//p:c"])
        var second = SimpleFilter(
            id: "2", scope: .domain("example.net"), what: FilterContent(excludes: [FilterSelection("//p:d[.=\"'\" and ..='x']")]))
        second.isEnabled = false
        try table.apply(
            SimpleFilterDocument(
                bindings: [.init(prefix: "p", namespace: "urn:example:1"), .init(prefix: "q", namespace: "urn:example:2")],
                filters: [SimpleFilter(id: "1", triggers: [trigger])]))
        try table.apply(SimpleFilterDocument(bindings: [.init(prefix: "p", namespace: "urn:example:3")], filters: [second]))
        let third = SimpleFilter(
            id: "3", scope: .resource("sip:a&b@example.com"),
            what: FilterContent(includes: [FilterSelection("urn:example:4", kind: .namespace), FilterSelection("//note")]))
        try table.apply(SimpleFilterDocument(bindings: [], filters: [third]))
        let again = try FilterTable(octets: table.octets)
        #expect(again == table && again.hashValue == table.hashValue && again.octets == table.octets)
        #expect(again.filter(for: "sip:a&b@example.com", isRequestURI: false, domain: "") != nil)
        #expect(again.filter(for: "", isRequestURI: false, domain: "example.net") == nil)
    }

    @Test("A table at its limits can be stored")
    func largest() throws {
        var table = FilterTable()
        for number in 0..<8 {
            let bindings = (0..<16).map { SimpleFilterDocument.Binding(prefix: "p\($0)", namespace: "urn:example:\(number):\($0)") }
            let steps = (0..<16).map { "/p\($0):a" }.joined()
            let expressions = (0..<32).map { FilterSelection(steps + String(repeating: "a", count: 500 - steps.utf8.count - $0)) }
            let filter = SimpleFilter(
                id: "\(number)", scope: .domain("d\(number).example.com"), what: FilterContent(includes: expressions))
            try table.apply(SimpleFilterDocument(bindings: bindings, filters: [filter]))
        }
        #expect(try FilterTable(octets: table.octets) == table)
        let terse = SimpleFilter(
            id: "0",
            what: FilterContent(includes: [FilterSelection("//a[" + Array(repeating: "a:b='c'", count: 15).joined(separator: "and ") + "]")]
            ))
        try table.apply(SimpleFilterDocument(bindings: [.init(prefix: "a", namespace: "urn:example:a")], filters: [terse]))
        #expect(try FilterTable(octets: table.octets) == table)
    }

    @Test("Octets that no table wrote are refused")
    func unreadable() {
        #expect(throws: DocumentError.self) { try FilterTable(octets: Array("<filter-set".utf8)) }
        #expect(throws: FilterError.self) {
            try FilterTable(octets: Self.document(SimpleFilter(id: "a", what: Self.what("a"))).encode())
        }
    }
}
