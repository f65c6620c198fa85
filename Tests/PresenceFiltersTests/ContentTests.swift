import PresenceDocuments
import PresenceFilters
import Testing
import XMLCore

/// Content of notifications (RFC 4661 3.5, RFC 4660 5.3.1).
@Suite struct ContentTests {
    static let person = "<dm:person id=\"p\"><rpid:activities from=\"2026-05-04T10:00:00Z\"><rpid:meeting/><rpid:busy/></rpid:activities>"

    @Test("RFC 4660 5.3.1: without content selection the whole document is sent, octet for octet")
    func everything() throws {
        #expect(try Samples.filter().content(of: Samples.rich) == Samples.rich)
        #expect(try Samples.filter(FilterContent()).content(of: Samples.rich) == Samples.rich)
        #expect(try Samples.filter().content.isEverything)
    }

    @Test(
        "RFC 4661 3.5.1: selected elements come with descendants, ancestors and mandatory parts",
        arguments: [
            (
                ["//pidf:basic"],
                "<tuple id=\"im\"><status><basic>open</basic></status></tuple>"
                    + "<tuple id=\"call\"><status><basic>closed</basic></status></tuple>"
            ),
            (
                ["/pidf:presence/pidf:tuple[rpid:class=\"IM\" or rpid:class=\"SMS\"]/pidf:status/pidf:basic"],
                "<tuple id=\"im\"><status><basic>open</basic></status></tuple>"
            ),
            (
                ["//pidf:tuple[@id='im']/pidf:contact"],
                "<tuple id=\"im\"><status/><contact priority=\"0.8\">im:mara@example.com</contact></tuple>"
            ),
            (
                ["//pidf:tuple[@id='im']/pidf:note"], "<tuple id=\"im\"><status/><note xml:lang=\"en\">at work</note></tuple>"
            ),
            (["//rpid:activities"], person + "</dm:person>"),
            (
                ["//rpid:busy"],
                "<dm:person id=\"p\"><rpid:activities from=\"2026-05-04T10:00:00Z\"><rpid:busy/></rpid:activities></dm:person>"
            ),
            (
                ["//dm:note"],
                "<dm:device id=\"d\"><dm:deviceID>urn:uuid:48662e19-5fbf-43fc-a2fd-d23002787599</dm:deviceID><dm:note>desk</dm:note></dm:device>"
            ),
            (["/pidf:presence/pidf:note", "//pidf:tuple[@id='none']"], "<note>back soon</note>"),
            (["//pidf:tuple/@x:kind"], "<tuple id=\"call\" x:kind=\"voice\"><status/></tuple>"),
            (["//dm:person/@id"], "<dm:person id=\"p\"/>"),
            (["/pidf:presence/@entity"], ""),
        ])
    func include(_ expressions: [String], _ expected: String) throws {
        let found = try #require(try Samples.content(expressions))
        #expect(found == expected)
    }

    @Test("RFC 4661 3.5.1: a selected attribute comes with its element and the value of the element")
    func attribute() throws {
        #expect(
            try Samples.content(["//pidf:tuple[@id='im']/pidf:contact/@priority"])
                == "<tuple id=\"im\"><status/><contact priority=\"0.8\">im:mara@example.com</contact></tuple>")
    }

    @Test("RFC 4660 5.3.1: a filter that selects nothing has no content")
    func nothing() throws {
        #expect(try Samples.content(["//pidf:tuple[@id='none']"]) == nil)
        #expect(try Samples.content(["//pidf:note"], without: ["//pidf:note"]) == nil)
        #expect(try Samples.content(["//pidf:contact/@priority"], without: ["//@priority"]) == nil)
        #expect(try Samples.content(["//rpid:mood"], without: ["//pidf:note"]) == nil)
    }

    @Test("RFC 4661 3.5.2: excluded elements and attributes are left out, also of the whole document")
    func exclude() throws {
        #expect(try Samples.content(["//dm:person"], without: ["//rpid:sphere"]) == Self.person + "</dm:person>")
        #expect(
            try Samples.content(["//pidf:tuple[@id='im']"], without: ["//pidf:note", "//@priority", "//rpid:class"])
                == "<tuple id=\"im\"><status><basic>open</basic></status><contact>im:mara@example.com</contact></tuple>")
        let rest = try #require(try Samples.content([], without: ["//pidf:tuple", "//dm:device", "//rpid:activities"]))
        #expect(rest == "<note>back soon</note><dm:person id=\"p\"><rpid:sphere><rpid:work/></rpid:sphere></dm:person>")
    }

    @Test("RFC 4661 3.5.2: an exclusion of mandatory parts has no effect")
    func mandatory() throws {
        let device = "<dm:device id=\"d\"><dm:deviceID>urn:uuid:48662e19-5fbf-43fc-a2fd-d23002787599</dm:deviceID>"
        #expect(try Samples.content(["//pidf:basic"], without: ["//pidf:status"]) == Samples.content(["//pidf:basic"]))
        #expect(
            try Samples.content(["//pidf:note", "//pidf:status"], without: ["//@id", "//@entity"])
                == Samples.content(["//pidf:note", "//pidf:status"]))
        #expect(try Samples.content(["//dm:device"], without: ["//dm:deviceID", "//dm:note"]) == device + "</dm:device>")
        #expect(try Samples.content([], without: ["/pidf:presence"]) == Samples.body(Samples.rich))
        #expect(
            try Samples.content(["//pidf:basic"], without: ["//pidf:tuple[@id='im']/pidf:status/pidf:basic"])?.hasPrefix(
                "<tuple id=\"call\">") == true)
        let timed = Samples.presence(
            "<tuple id=\"t\"><status/><ts:timed-status from=\"2026-05-04T10:00:00Z\"><ts:basic>open</ts:basic></ts:timed-status></tuple>")
        #expect(
            try Samples.content(["//ts:basic"], without: ["//@from"], of: timed)
                == "<tuple id=\"t\"><status/><ts:timed-status from=\"2026-05-04T10:00:00Z\"><ts:basic>open</ts:basic></ts:timed-status></tuple>"
        )
    }

    @Test("RFC 4661 3.5.3: a namespace selects its elements without those of other namespaces, and its attributes")
    func namespace() throws {
        func content(_ includes: [FilterSelection], _ excludes: [FilterSelection] = []) throws -> String? {
            try Samples.filter(FilterContent(includes: includes, excludes: excludes)).content(of: Samples.rich).map(Samples.body)
        }
        let pidf = FilterSelection("urn:ietf:params:xml:ns:pidf", kind: .namespace)
        let rpid = FilterSelection("urn:ietf:params:xml:ns:pidf:rpid", kind: .namespace)
        let basic = try #require(try content([pidf]))
        #expect(
            basic == "<tuple id=\"im\"><status><basic>open</basic></status><contact priority=\"0.8\">im:mara@example.com</contact>"
                + "<note xml:lang=\"en\">at work</note></tuple><tuple id=\"call\" x:kind=\"voice\"><status><basic>closed</basic></status>"
                + "<contact priority=\"0.2\">sip:mara@contoso.com</contact></tuple><note>back soon</note>")
        let person = try #require(try content([rpid], [FilterSelection("//pidf:tuple"), FilterSelection("//rpid:sphere")]))
        #expect(person == Self.person + "</dm:person>")
        #expect(
            try content([FilterSelection("urn:example:x", kind: .namespace)])
                == "<tuple id=\"call\" x:kind=\"voice\"><status><x:line>2</x:line></status></tuple>")
        let without = try #require(try content([], [rpid, FilterSelection("urn:example:x", kind: .namespace), pidf]))
        #expect(without.hasPrefix("<dm:person id=\"p\"/><dm:device") && !without.contains("<tuple") && !without.contains("<note"))
        #expect(try content([FilterSelection("urn:example:other", kind: .namespace)]) == nil)
    }

    @Test("RFC 4661 3.5: elements keep their order, texts, comments and inner declarations")
    func octets() throws {
        let document = Samples.presence(
            "<tuple id=\"a\"><status/><note>1 &lt; 2 &amp; <!-- c -->3</note></tuple>"
                + "<y:e xmlns:y=\"urn:example:y\"><y:f k='&quot;'><![CDATA[<z>]]></y:f><y:g/></y:e>")
        let kept = "<tuple id=\"a\"><status/><note>1 &lt; 2 &amp; <!-- c -->3</note></tuple>"
        #expect(try Samples.content(["//pidf:note"], of: document) == kept)
        let filter = try CompiledFilter(
            SimpleFilter(id: "f", what: FilterContent(includes: [FilterSelection("//y:f")])),
            bindings: [.init(prefix: "y", namespace: "urn:example:y")])
        #expect(
            try filter.content(of: document).map(Samples.body)
                == "<y:e xmlns:y=\"urn:example:y\"><y:f k='&quot;'><![CDATA[<z>]]></y:f></y:e>")
    }

    @Test("XML 1.0 2.12: the language above a selected note is kept")
    func language() throws {
        let tuple = "<tuple id=\"a\" xml:lang=\"de\" x:k=\"1\"><status/><note>hier</note></tuple>"
        let document = Samples.presence(tuple + "<note>da</note>")
        #expect(
            try Samples.content(["//pidf:tuple/pidf:note"], of: document)
                == "<tuple id=\"a\" xml:lang=\"de\"><status/><note>hier</note></tuple>")
    }

    @Test("Octets that are no presence document are refused")
    func noPresence() throws {
        let filter = try Samples.filter(FilterContent(includes: [FilterSelection("//pidf:tuple")]))
        for text in ["", "<presence/>", "<a", "<tuple xmlns=\"urn:ietf:params:xml:ns:pidf\" id=\"a\"><status/></tuple>"] {
            #expect(throws: DocumentError.self) { try filter.content(of: Array(text.utf8)) }
        }
    }

    @Test("Filters with the same selections are equal, in whatever order, and whatever their id and triggers")
    func key() throws {
        func filter(_ includes: [String], _ triggers: [FilterTrigger] = []) throws -> CompiledFilter {
            try Samples.filter(FilterContent(includes: includes.map { FilterSelection($0) }), triggers)
        }
        let one = try filter(["//pidf:note", "//pidf:basic"])
        let two = try filter(["//pidf:basic", "// pidf:note"], [FilterTrigger(additions: ["//pidf:note"])])
        #expect(one.content == two.content && one != two)
        #expect(try one.content != filter(["//pidf:note"]).content)
    }

    @Test("The work of a filter grows with the document, not with its square")
    func large() throws {
        let tuples = (0..<3_000).map { "<tuple id=\"t\($0)\"><status><basic>open</basic></status></tuple>" }.joined()
        let document = Samples.presence(tuples)
        let found = try #require(
            try Samples.content(["//*[..='' and */*='open']/*[*='open']/pidf:basic"], without: ["//@id"], of: document))
        #expect(found == tuples)
        let bare = document.count - tuples.utf8.count
        #expect(bare < 1_000)
        var nested = "<x:a>"
        for _ in 0..<58 { nested = "<x:a>" + nested + "</x:a>" }
        nested += "</x:a>"
        #expect(try FilterExpression("//*//*//*//*[*/*/*/*/*='']", bindings: [:]).count(in: Samples.presence(nested)) > 0)
    }
}
