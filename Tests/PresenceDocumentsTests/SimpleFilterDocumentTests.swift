import Foundation
import PresenceDocuments
import Testing

/// Filter documents (RFC 4661 3).
@Suite struct SimpleFilterDocumentTests {
    static let full = """
        <?xml version="1.0"?>
        <filter-set xmlns="urn:ietf:params:xml:ns:simple-filter" package="presence">
          <ns-bindings>
            <ns-binding prefix="pidf" urn="urn:ietf:params:xml:ns:pidf"/>
            <ns-binding prefix="rpid" urn="urn:ietf:params:xml:ns:pidf:rpid"/>
          </ns-bindings>
          <filter id="f1" uri="sip:mara@example.com">
            <what>
              <include> //pidf:tuple </include><include type="namespace">urn:ietf:params:xml:ns:pidf:rpid</include>
              <exclude type="xpath">//pidf:note</exclude><later xmlns="urn:example:x"/>
            </what>
            <trigger><changed from="closed" to="open">//pidf:basic</changed><changed by="0.5">//@priority</changed></trigger>
            <trigger><added>//pidf:note</added><removed>//pidf:contact</removed></trigger>
          </filter>
          <filter id="f2" domain="example.net" enabled="0"/>
          <filter id="f3" remove="1"/>
        </filter-set>
        """

    @Test("RFC 4661 3: a document is read, and written so that it reads the same")
    func roundTrip() throws {
        let document = try SimpleFilterDocument.decode(Array(Self.full.utf8))
        #expect(document.package == "presence" && document.bindings.map(\.prefix) == ["pidf", "rpid"])
        #expect(document.filters.map(\.id) == ["f1", "f2", "f3"])
        let filter = document.filters[0]
        #expect(filter.scope == .resource("sip:mara@example.com") && filter.isEnabled && !filter.removes)
        #expect(filter.what?.includes.map(\.text) == ["//pidf:tuple", "urn:ietf:params:xml:ns:pidf:rpid"])
        #expect(filter.what?.includes.map(\.kind) == [.xpath, .namespace])
        #expect(filter.what?.excludes.map(\.text) == ["//pidf:note"])
        #expect(filter.triggers.count == 2 && filter.triggers[0].changes.map(\.by) == [nil, "0.5"])
        #expect(filter.triggers[0].changes[0].from == "closed" && filter.triggers[0].changes[0].to == "open")
        #expect(filter.triggers[1].additions == ["//pidf:note"] && filter.triggers[1].removals == ["//pidf:contact"])
        #expect(document.filters[1].scope == .domain("example.net") && !document.filters[1].isEnabled)
        #expect(document.filters[2].scope == .request && document.filters[2].removes)
        #expect(try SimpleFilterDocument.decode(document.encode()) == document)
    }

    @Test(
        "RFC 4661 3: missing and unknown values are refused with their rule",
        arguments: [
            ("filter-set ", "filters ", "RFC 4661 3.2: the root element is filters"),
            ("package=\"presence\"", "package=\"\"", "RFC 4661 3.2: attribute package in 'filter-set'"),
            ("<ns-binding prefix=\"rpid\"", "<ns-binding", "RFC 4661 3.3: ns-binding without prefix"),
            ("prefix=\"rpid\"", "prefix=\"pidf\"", "RFC 4661 3.3: attribute prefix in 'ns-binding' has the invalid value 'pidf'"),
            ("urn=\"urn:ietf:params:xml:ns:pidf\"", "", "RFC 4661 3.3: ns-binding without urn"),
            ("<filter id=\"f3\"", "<filter", "RFC 4661 3.4: filter without id"),
            ("id=\"f3\"", "id=\"f1\"", "RFC 4661 3.4: attribute id in 'filter' has the invalid value 'f1'"),
            ("uri=", "domain=\"example.com\" uri=", "RFC 4661 3.4: attribute domain beside uri in 'filter'"),
            ("remove=\"1\"", "remove=\"yes\"", "RFC 4661 3.4: attribute remove in 'filter' has the invalid value 'yes'"),
            ("enabled=\"0\"", "enabled=\"no\"", "RFC 4661 3.4: attribute enabled in 'filter' has the invalid value 'no'"),
            ("uri=\"sip:mara@example.com\"", "uri=\" \"", "RFC 4661 3.4: attribute uri in 'filter'"),
            ("<what>", "<what/><what>", "RFC 4661 3.5: a second element in 'filter' has the invalid value 'what'"),
            ("type=\"namespace\"", "type=\"regex\"", "RFC 4661 3.5.3: attribute type in 'include' has the invalid value 'regex'"),
            (" //pidf:tuple ", " ", "RFC 4661 3.5: the expression in 'include'"),
            (" //pidf:tuple ", "//pidf:<b/>", "RFC 4661 3.5: the expression in 'include'"),
            ("<later xmlns=\"urn:example:x\"/>", "<min-interval/>", "RFC 4661 3.5: the element in 'what' has the invalid value"),
            ("<trigger><added>", "<trigger/><trigger><added>", "RFC 4661 3.6: trigger without changed, added or removed"),
            ("by=\"0.5\"", "by=\"half\"", "RFC 4661 3.6.1.3: attribute by in 'changed' has the invalid value 'half'"),
            ("<added>//pidf:note", "<added>", "RFC 4661 3.6.2: the expression in 'added'"),
            ("<removed>//pidf:contact", "<removed>", "RFC 4661 3.6.3: the expression in 'removed'"),
            ("<filter id=\"f3\"", "<what/><filter id=\"f3\"", "RFC 4661 3.2: the element in 'filter-set'"),
            ("<ns-bindings>", "<ns-bindings><filter/>", "RFC 4661 3.3: the element in 'ns-bindings'"),
            ("<filter id=\"f1\"", "<ns-bindings/><filter id=\"f1\"", "RFC 4661 3.3: a second element in 'filter-set'"),
        ])
    func refused(_ part: String, _ other: String, _ message: String) {
        #expect(Self.full.contains(part))
        var text = Self.full.replacingOccurrences(of: part, with: other)
        if part == "filter-set " { text = text.replacingOccurrences(of: "</filter-set>", with: "</filters>") }
        expectError(text, message)
    }

    @Test("RFC 4661 3.2, 3.3: a document has a filter, and bindings have one")
    func empty() {
        expectError("<filter-set xmlns=\"urn:ietf:params:xml:ns:simple-filter\"/>", "RFC 4661 3.2: filter-set without filter")
        expectError(
            "<filter-set xmlns=\"urn:ietf:params:xml:ns:simple-filter\"><ns-bindings/><filter id=\"f\"/></filter-set>",
            "RFC 4661 3.3: ns-bindings without ns-binding")
    }

    @Test("Filters, expressions, bindings and octets of a document are limited")
    func limits() throws {
        func document(filters: Int = 1, expressions: Int = 1, octets: Int = 3, bindings: Int = 1) -> String {
            let expression = "<include>" + String(repeating: "a", count: octets) + "</include>"
            let filter = "<what>" + String(repeating: expression, count: expressions) + "</what></filter>"
            return "<filter-set xmlns=\"urn:ietf:params:xml:ns:simple-filter\"><ns-bindings>"
                + (0..<bindings).map { "<ns-binding prefix=\"p\($0)\" urn=\"urn:example:\($0)\"/>" }.joined() + "</ns-bindings>"
                + (0..<filters).map { "<filter id=\"f\($0)\">" + filter }.joined() + "</filter-set>"
        }
        #expect(throws: Never.self) {
            try SimpleFilterDocument.decode(Array(document(filters: 8, expressions: 32, octets: 64, bindings: 32).utf8))
        }
        #expect(throws: Never.self) { try SimpleFilterDocument.decode(Array(document(octets: 512).utf8)) }
        expectError(document(filters: 9), "'filter-set' has more than the 8 filters allowed", code: .limit)
        expectError(document(expressions: 33), "'filter' has more than the 32 expressions allowed", code: .limit)
        expectError(document(octets: 513), "the expression in 'include' has 513 octets, more than the 512 allowed", code: .limit)
        expectError(document(bindings: 33), "'ns-bindings' has more than the 32 namespace bindings allowed", code: .limit)
        expectError(document(octets: 70_000), "more than the 65536 allowed", code: .limit)
        let deep = String(repeating: "<a>", count: 40) + String(repeating: "</a>", count: 40)
        expectError("<filter-set xmlns=\"urn:ietf:params:xml:ns:simple-filter\">\(deep)</filter-set>", "32", code: .limit)
    }

    private func expectError(_ text: String, _ message: String, code: DocumentError.Code? = nil) {
        do {
            _ = try SimpleFilterDocument.decode(Array(text.utf8))
            Issue.record("accepted, expected: \(message)")
        } catch {
            #expect(error.message.contains(message), "\(error)")
            if let code { #expect(error.code == code) }
        }
    }

    @Test(
        "XML Schema 3.2.3: decimal numbers are compared by value",
        arguments: [("0.2", "0.3", "0.1"), ("-1", "+1", "2.0"), ("5", "5.50", ".5"), ("000000000000000000001", "1.0", "0")])
    func decimal(_ left: String, _ right: String, _ distance: String) throws {
        let values = try [left, right, distance].map { try #require(FilterDecimal($0)) }
        #expect(values[0].distance(to: values[1]) == values[2] && values[1].distance(to: values[0]) == values[2])
        #expect(values[0] <= values[1])
    }

    @Test(
        "XML Schema 3.2.3: other text is no decimal number",
        arguments: ["", ".", "-", "1e3", "1.2.3", " 1", "0x1", String(repeating: "9", count: 19), "0." + String(repeating: "1", count: 19)])
    func noDecimal(_ text: String) { #expect(FilterDecimal(text) == nil) }
}
