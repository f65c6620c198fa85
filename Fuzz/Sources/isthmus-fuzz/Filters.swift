import PresenceDocuments
import PresenceFilters

extension FuzzTarget {
    private static let namespaces = [
        "pidf": "urn:ietf:params:xml:ns:pidf", "dm": "urn:ietf:params:xml:ns:pidf:data-model", "rpid": "urn:ietf:params:xml:ns:pidf:rpid",
    ]

    private static func presence(_ tuples: String) -> [UInt8] {
        Array(
            """
            <presence xmlns="urn:ietf:params:xml:ns:pidf" xmlns:rpid="urn:ietf:params:xml:ns:pidf:rpid" \
            xmlns:dm="urn:ietf:params:xml:ns:pidf:data-model" entity="sip:kai@example.com">\(tuples)<note xml:lang="en">1 &lt; 2</note>\
            <dm:person id="p"><rpid:activities><rpid:busy/></rpid:activities></dm:person>\
            <dm:device id="d"><dm:deviceID>urn:x:d</dm:deviceID></dm:device></presence>
            """.utf8)
    }

    private static let old = presence(
        "<tuple id=\"a\"><status><basic>open</basic></status><rpid:class>IM</rpid:class><note>one</note></tuple>")
    private static let new = presence(
        "<tuple id=\"a\"><status><basic>closed</basic></status></tuple>"
            + "<tuple id=\"b\"><status/><contact priority=\"0.5\">sip:kai@example.com</contact></tuple>")

    /// Applies a filter to two documents; the content must be readable PIDF.
    private static func apply(_ filter: CompiledFilter) {
        for document in [old, new] {
            guard let content = try? filter.content(of: document) else { continue }
            require((try? PIDFDocument.decode(content)) != nil, "the content is no PIDF: \(String(decoding: content, as: UTF8.self))")
        }
        require(!filter.isTriggered(from: old, to: old), "a trigger without change")
        _ = filter.isTriggered(from: old, to: new)
    }

    /// Event notification filters, and their expressions.
    static let filters = [
        FuzzTarget("filter-document", seeds: ["Vectors/documents/simple-filter", "Fuzz/Seeds/filter-document"]) { bytes in
            guard let document = try? SimpleFilterDocument.decode(bytes) else { return }
            var table = FilterTable()
            guard (try? table.apply(document)) != nil else { return }
            do {
                require(try FilterTable(octets: table.octets) == table, "a table is stored as another one")
            } catch {
                fatalError("the octets of a table are refused: \(error)")
            }
            for filter in document.filters {
                if let compiled = try? CompiledFilter(filter, bindings: document.bindings) { apply(compiled) }
            }
        },
        FuzzTarget("filter-expression", seeds: ["Fuzz/Seeds/filter-expression"]) { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            guard let expression = try? FilterExpression(text, bindings: namespaces) else { return }
            _ = try? expression.count(in: new)
            let what = FilterContent(includes: [FilterSelection(text)])
            let without = FilterContent(excludes: [FilterSelection(text)])
            let trigger = FilterTrigger(changes: [FilterChange(text)], additions: [text], removals: [text])
            let bindings = namespaces.map { SimpleFilterDocument.Binding(prefix: $0, namespace: $1) }
            for filter in [
                SimpleFilter(id: "1", what: what), SimpleFilter(id: "2", what: without), SimpleFilter(id: "3", triggers: [trigger]),
            ] {
                guard let compiled = try? CompiledFilter(filter, bindings: bindings) else {
                    fatalError("an expression is refused in a filter")
                }
                apply(compiled)
            }
        },
    ]
}
