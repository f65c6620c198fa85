import PresenceDocuments
import PresenceFilters
import Testing

/// Filters of the kinds that the examples of RFC 4661 and RFC 4660 show, from SUBSCRIBE body to NOTIFY body, with other data.
@Suite struct FilterExampleTests {
    /// Body of a SUBSCRIBE.
    static func table(_ filters: String) throws -> FilterTable {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <filter-set xmlns="urn:ietf:params:xml:ns:simple-filter" package="presence">
              <ns-bindings>
                <ns-binding prefix="pidf" urn="urn:ietf:params:xml:ns:pidf"/>
                <ns-binding prefix="rpid" urn="urn:ietf:params:xml:ns:pidf:rpid"/>
              </ns-bindings>
              \(filters)
            </filter-set>
            """
        var table = FilterTable()
        try table.apply(try SimpleFilterDocument.decode(Array(text.utf8)))
        return table
    }

    static func filter(_ filters: String, for uri: String = "sip:mara@example.com", domain: String = "example.com") throws -> CompiledFilter
    {
        try #require(try table(filters).filter(for: uri, isRequestURI: true, domain: domain))
    }

    /// Services of three classes, with a status each.
    static func services(im: String = "open", sms: String = "open", mms: String = "closed", note: String = "") -> [UInt8] {
        func tuple(_ id: String, _ basic: String) -> String {
            "<tuple id=\"\(id.lowercased())\"><status><basic>\(basic)</basic></status><rpid:class>\(id)</rpid:class>"
                + "<contact priority=\"0.5\">sip:\(id.lowercased())@example.com</contact></tuple>"
        }
        return Samples.presence(tuple("IM", im) + tuple("SMS", sms) + tuple("MMS", mms) + note)
    }

    static let classes = """
        <what><include type="xpath">/pidf:presence/pidf:tuple[rpid:class="IM" or rpid:class="SMS"]/pidf:status/pidf:basic</include></what>
        """
    static let becomesOpen = """
        <trigger><changed from="closed" to="open">/pidf:presence/pidf:tuple[rpid:class="IM"]/pidf:status/pidf:basic</changed></trigger>
        """

    @Test("RFC 4661 6: the status of services of some classes")
    func what() throws {
        let filter = try Self.filter("<filter id=\"123\" uri=\"sip:mara@example.com\">\(Self.classes)</filter>")
        #expect(
            try filter.content(of: Self.services()).map(Samples.body)
                == "<tuple id=\"im\"><status><basic>open</basic></status></tuple><tuple id=\"sms\"><status><basic>open</basic></status></tuple>"
        )
        #expect(filter.isTriggered(from: Self.services(), to: Self.services(im: "closed")))
        #expect(!filter.isTriggered(from: Self.services(), to: Self.services(mms: "open", note: "<note>n</note>")))
    }

    @Test("RFC 4661 6: the whole document when a service becomes available")
    func trigger() throws {
        let filter = try Self.filter("<filter id=\"123\">\(Self.becomesOpen)</filter>")
        #expect(filter.isTriggered(from: Self.services(im: "closed"), to: Self.services()))
        #expect(!filter.isTriggered(from: Self.services(), to: Self.services(im: "closed")))
        #expect(!filter.isTriggered(from: Self.services(sms: "closed"), to: Self.services()))
        #expect(try filter.content(of: Self.services()) == Self.services())
    }

    @Test("RFC 4661 6: some content when a service becomes available")
    func whatAndTrigger() throws {
        let filter = try Self.filter("<filter id=\"123\" uri=\"sip:mara@example.com\">\(Self.classes)\(Self.becomesOpen)</filter>")
        #expect(filter.isTriggered(from: Self.services(im: "closed"), to: Self.services()))
        #expect(!filter.isTriggered(from: Self.services(sms: "closed"), to: Self.services()))
        let content = try #require(try filter.content(of: Self.services(im: "closed", sms: "closed")))
        let document = try PIDFDocument.decode(content)
        #expect(document.tuples.map(\.id) == ["im", "sms"] && document.tuples.map(\.basic) == [.closed, .closed])
    }

    @Test("RFC 4661 6: the elements of two namespaces but one")
    func namespaces() throws {
        let filter = try Self.filter(
            """
            <filter id="123"><what><include type="namespace">urn:ietf:params:xml:ns:pidf</include>
            <include type="namespace">urn:ietf:params:xml:ns:pidf:rpid</include><exclude>//rpid:class</exclude></what></filter>
            """)
        let content = try #require(try filter.content(of: Samples.rich))
        let document = try PIDFDocument.decode(content)
        #expect(document.tuples.map(\.id) == ["im", "call"] && document.tuples.allSatisfy { $0.contact != nil && $0.rpid.isEmpty })
        #expect(document.tuples.allSatisfy { $0.statusExtensions.isEmpty } && document.notes.map(\.text) == ["back soon"])
        #expect(document.persons.map(\.id) == ["p"] && document.persons.allSatisfy { !$0.rpid.isEmpty } && document.devices.isEmpty)
    }

    @Test("RFC 4661 6: a part that is not there gives a notification without body")
    func include() throws {
        let filter = try Self.filter("<filter id=\"123\"><what><include>/pidf:presence/pidf:note</include></what></filter>")
        #expect(try filter.content(of: Self.services()) == nil)
        #expect(try filter.content(of: Self.services(note: "<note>n</note>")).map(Samples.body) == "<note>n</note>")
        #expect(filter.isTriggered(from: Self.services(note: "<note>n</note>"), to: Self.services()))
    }

    @Test("RFC 4661 6: one filter for a domain and another for one of its resources")
    func two() throws {
        let filters = """
            <filter id="8439" domain="contoso.com"><what><include>//pidf:basic</include></what></filter>
            <filter id="999" uri="sip:mara@contoso.com"><what><include>//rpid:class</include></what></filter>
            """
        let one = try Self.filter(filters, for: "sip:mara@contoso.com", domain: "contoso.com")
        let other = try Self.filter(filters, for: "sip:kai@contoso.com", domain: "contoso.com")
        #expect(try one.content(of: Self.services()).map(Samples.body)?.contains("<basic>") == false)
        #expect(try other.content(of: Self.services()).map(Samples.body)?.contains("<rpid:class>") == false)
        #expect(try Self.table(filters).filter(for: "sip:kai@example.com", isRequestURI: true, domain: "example.com") == nil)
    }

    @Test("RFC 4660 7: a subscription with a content filter, then with a trigger, then without filter")
    func subscription() throws {
        var table = try Self.table("<filter id=\"1\">\(Self.classes)</filter>")
        func current() -> CompiledFilter? { table.filter(for: "sip:mara@example.com", isRequestURI: true, domain: "example.com") }
        let first = try #require(current())
        #expect(first.isTriggered(from: nil, to: Self.services()))
        // A refresh without body changes nothing; one with a body replaces the filter of the same id.
        let body = Array(
            """
            <filter-set xmlns="urn:ietf:params:xml:ns:simple-filter"><ns-bindings><ns-binding prefix="p" urn="urn:ietf:params:xml:ns:pidf"/>\
            </ns-bindings><filter id="1"><trigger><added>/p:presence/p:tuple</added></trigger></filter></filter-set>
            """.utf8)
        try table.apply(SimpleFilterDocument.decode(body))
        let second = try #require(current())
        #expect(!second.isTriggered(from: Self.services(), to: Self.services(im: "closed")))
        #expect(second.isTriggered(from: Samples.presence(""), to: Self.services()) && second.content.isEverything)
        try table.apply(
            SimpleFilterDocument.decode(
                Array("<filter-set xmlns=\"urn:ietf:params:xml:ns:simple-filter\"><filter id=\"1\" remove=\"true\"/></filter-set>".utf8)))
        #expect(current() == nil)
    }
}
