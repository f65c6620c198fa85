import PresenceDocuments
import PresenceFilters
import Testing
import XMLCore

/// Properties of filters over random documents.
@Suite struct FilterPropertyTests {
    private static let elements = [
        "pidf:tuple", "pidf:status", "pidf:basic", "pidf:contact", "pidf:note", "pidf:timestamp", "dm:person", "dm:device", "dm:deviceID",
        "dm:note", "rpid:activities", "rpid:busy", "rpid:class", "rpid:mood", "rpid:place-type", "rpid:user-input", "rpid:time-offset",
        "caps:servcaps", "caps:audio", "caps:priority", "caps:equals", "ts:timed-status", "ts:basic", "x:e", "x:f", "*",
    ]
    private static let attributes = ["id", "priority", "from", "until", "xml:lang", "x:k", "value", "entity"]

    private static func element(_ generator: inout SeededGenerator) -> String { elements.randomElement(using: &generator) ?? "*" }
    private static func number(_ range: ClosedRange<Int>, _ generator: inout SeededGenerator) -> Int {
        Int.random(in: range, using: &generator)
    }

    static func document(_ generator: inout SeededGenerator) -> [UInt8] {
        func optional(_ text: String) -> String { Bool.random(using: &generator) ? text : "" }
        func any(_ texts: String...) -> String { texts.randomElement(using: &generator) ?? "" }
        func `extension`() -> String {
            any("", "<x:e x:k=\"1\"><x:f>text</x:f><x:f/></x:e>", "<y:e xmlns:y=\"urn:example:x\">a<y:f/></y:e>")
        }
        func rpid() -> String {
            optional("<rpid:activities from=\"2026-05-04T10:00:00Z\"><rpid:note>n</rpid:note><rpid:busy/></rpid:activities>")
                + optional("<rpid:mood id=\"m\"><rpid:happy/></rpid:mood>") + optional("<rpid:class>c</rpid:class>")
                + optional("<rpid:place-type><rpid:other>here</rpid:other></rpid:place-type>")
                + optional("<rpid:user-input last-input=\"2026-05-04T10:00:00Z\">idle</rpid:user-input>")
                + optional("<rpid:time-offset from=\"2026-05-04T10:00:00Z\">120</rpid:time-offset>")
        }
        var content = ""
        for index in 0..<number(0...3, &generator) {
            content += "<tuple id=\"\(any("t", "u"))\(index)\"\(optional(" x:k=\"2\""))><status\(optional(" x:k=\"3\""))>"
            content += any("", "<basic>open</basic>", "<basic>closed</basic>") + `extension`() + "</status>" + rpid()
            content += optional(
                "<caps:servcaps><caps:audio>true</caps:audio><caps:priority><caps:supported><caps:equals value=\"1\"/>"
                    + "</caps:supported></caps:priority></caps:servcaps>")
            content += optional("<ts:timed-status from=\"2026-05-04T10:00:00Z\"><ts:basic>open</ts:basic></ts:timed-status>")
            content += `extension`() + optional("<contact priority=\"0.\(number(0...9, &generator))\">sip:mara@example.com</contact>")
            content +=
                optional("<note xml:lang=\"en\">1 &lt; 2</note>") + optional("<timestamp>2026-05-04T10:00:00Z</timestamp>") + "</tuple>"
        }
        content += optional("<note>note</note>")
        content += optional("<dm:person id=\"p\">\(rpid())\(optional("<dm:note xml:lang=\"en\">n</dm:note>"))</dm:person>")
        content += optional("<dm:device id=\"d\"><dm:deviceID>urn:x:d</dm:deviceID>\(optional("<dm:note>n</dm:note>"))</dm:device>")
        return Samples.presence(content + `extension`())
    }

    /// Expression whose predicates look only at parts that a filter keeps with the selected ones.
    static func expression(_ generator: inout SeededGenerator) -> String {
        var text = ""
        for _ in 0..<number(1...3, &generator) {
            text += (Bool.random(using: &generator) ? "//" : "/") + element(&generator)
            if number(0...3, &generator) == 0 { text += "[@id='\(["t0", "u1", "p", "d"].randomElement(using: &generator) ?? "")']" }
        }
        switch number(0...5, &generator) {
        case 0: return text + "/@" + (attributes.randomElement(using: &generator) ?? "id")
        case 1: return "//@" + (attributes.randomElement(using: &generator) ?? "id")
        case 2: return "//" + element(&generator)
        default: return text
        }
    }

    static func selections(_ count: Int, _ generator: inout SeededGenerator) -> [FilterSelection] {
        (0..<count).map { _ in
            guard number(0...3, &generator) == 0 else { return FilterSelection(expression(&generator)) }
            return FilterSelection(Samples.namespaces.values.sorted().randomElement(using: &generator) ?? "", kind: .namespace)
        }
    }

    /// Lines of a document, one for each element with its path, attribute and text.
    static func parts(_ octets: [UInt8]) throws -> [String: Int] {
        var result: [String: Int] = [:]
        func add(_ element: XMLElement, _ path: String) {
            let path = path + "/{\(element.namespace)}\(element.localName)"
            result[path, default: 0] += 1
            for attribute in element.attributes {
                result["\(path)@{\(attribute.namespace)}\(attribute.localName)=\(attribute.value)", default: 0] += 1
            }
            if !element.trimmedText.isEmpty { result["\(path)=\(element.trimmedText)", default: 0] += 1 }
            for child in element.children { add(child, path) }
        }
        add(try XMLTree.parse(octets).root, "")
        return result
    }

    private static let mandatory: Set<String> = ["pidf:status", "dm:deviceID", "pidf:presence", "*"]

    @Test("RFC 4660 5.3.1: over random documents the content is PIDF of parts of the document, without excluded ones, and again itself")
    func content() throws {
        var generator = SeededGenerator(seed: 4_660)
        var counts = (nothing: 0, reduced: 0, excluded: 0)
        for round in 0..<10_000 {
            let document = Self.document(&generator)
            let what = FilterContent(
                includes: Self.selections(Self.number(0...3, &generator), &generator),
                excludes: Self.selections(Self.number(0...2, &generator), &generator))
            let filter = try Samples.filter(what)
            guard let content = try filter.content(of: document) else {
                counts.nothing += 1
                continue
            }
            let context =
                "round \(round): \(what)\n\(String(decoding: document, as: UTF8.self))\n\(String(decoding: content, as: UTF8.self))"
            if content.count < document.count { counts.reduced += 1 }
            #expect(throws: Never.self, "\(context)") { try PIDFDocument.decode(document) }
            #expect(throws: Never.self, "\(context)") { try PIDFDocument.decode(content) }
            let before = try Self.parts(document)
            let after = try Self.parts(content)
            #expect(after.allSatisfy { $1 <= before[$0] ?? 0 }, "\(context)")
            for exclusion in what.excludes {
                switch exclusion.kind {
                case .namespace where exclusion.text != Samples.namespaces["pidf"] && exclusion.text != Samples.namespaces["dm"]:
                    counts.excluded += 1
                    #expect(!after.keys.contains { $0.contains("{\(exclusion.text)}") }, "\(context)")
                case .xpath
                where !exclusion.text.contains("@") && !Self.mandatory.contains(String(exclusion.text.split(separator: "/").last ?? "*")):
                    counts.excluded += 1
                    #expect(try FilterExpression(exclusion.text, bindings: Samples.namespaces).count(in: content) == 0, "\(context)")
                default: continue
                }
            }
            #expect(try filter.content(of: content) == content, "\(context)")
        }
        #expect(counts.nothing > 500 && counts.reduced > 3_000 && counts.excluded > 1_000, "\(counts)")
    }

    @Test("RFC 4661 3.6: over random pairs a filter without trigger follows its content, and no trigger holds without a change")
    func triggers() throws {
        var generator = SeededGenerator(seed: 4_661)
        var triggered = 0
        for _ in 0..<5_000 {
            let (old, new) = (Self.document(&generator), Self.document(&generator))
            let filter = try Samples.filter(FilterContent(includes: Self.selections(2, &generator)))
            #expect(try filter.isTriggered(from: old, to: new) == (filter.content(of: old) != filter.content(of: new)))
            let text = Self.expression(&generator)
            let (added, removed) = (FilterTrigger(additions: [text]), FilterTrigger(removals: [text]))
            let changed = try Samples.filter(nil, [FilterTrigger(changes: [FilterChange(text)])])
            // What is added from the old document to the new one is removed from the new one to the old one.
            #expect(
                try Samples.filter(nil, [added]).isTriggered(from: old, to: new)
                    == Samples.filter(nil, [removed]).isTriggered(from: new, to: old))
            #expect(changed.isTriggered(from: old, to: new) == changed.isTriggered(from: new, to: old))
            #expect(!changed.isTriggered(from: old, to: old))
            if changed.isTriggered(from: old, to: new) { triggered += 1 }
        }
        #expect(triggered > 100)
    }

    @Test("RFC 4660 5.2.2: the octets of random tables read as equal tables")
    func tables() throws {
        var generator = SeededGenerator(seed: 488)
        for _ in 0..<1_000 {
            var table = FilterTable()
            let filters = (0..<Self.number(1...4, &generator)).map { index in
                SimpleFilter(
                    id: "f\(index)", scope: .domain("d\(index).example.com"),
                    what: FilterContent(includes: Self.selections(2, &generator), excludes: Self.selections(1, &generator)),
                    triggers: [FilterTrigger(additions: [Self.expression(&generator)])])
            }
            try table.apply(SimpleFilterDocument(bindings: Samples.bindings, filters: filters))
            let document = try SimpleFilterDocument.decode(SimpleFilterDocument(bindings: Samples.bindings, filters: filters).encode())
            var again = FilterTable()
            try again.apply(document)
            #expect(again == table)
            #expect(try FilterTable(octets: table.octets) == table)
        }
    }
}
