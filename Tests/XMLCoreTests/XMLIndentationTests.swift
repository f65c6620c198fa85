import Testing
import XMLCore

@Suite struct XMLIndentationTests {
    static func indented(_ text: String) -> String? {
        XMLIndentation.indented(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        "elements without text are indented; text, CDATA and xml:space are left as they are",
        arguments: [
            ("<a/>", "<a/>"), ("<a></a>", "<a></a>"), ("<a> </a>", "<a></a>"), ("<a>x</a>", "<a>x</a>"),
            ("<?xml version=\"1.0\"?>\n<a><b>x</b><c/></a>", "<?xml version=\"1.0\"?>\n<a>\n  <b>x</b>\n  <c/>\n</a>"),
            ("<a>\n\t<b>\n<c/></b>\n</a>", "<a>\n  <b>\n    <c/>\n  </b>\n</a>"),
            ("<a><p>one <b>two</b> <i/> </p></a>", "<a>\n  <p>one <b>two</b> <i/> </p>\n</a>"),
            ("<a><p><![CDATA[ <x> ]]></p></a>", "<a>\n  <p><![CDATA[ <x> ]]></p>\n</a>"),
            ("<a><p xml:space=\"preserve\"> <b/> </p><q/></a>", "<a>\n  <p xml:space=\"preserve\"> <b/> </p>\n  <q/>\n</a>"),
            ("<a k='>' l=\"/\"><!-- <b> --><b/></a>", "<a k='>' l=\"/\">\n  <!-- <b> -->\n  <b/>\n</a>"),
        ]) func indents(document: String, expected: String)
    {
        #expect(Self.indented(document) == expected)
        #expect(Self.indented(expected) == expected)
    }

    @Test(
        "what is no document is left alone",
        arguments: ["", "text", "<a>", "</a>", "<a", "<a><!-- </a>", "<!DOCTYPE a><a/>", "<a/></a>", "<>"])
    func others(text: String) {
        #expect(Self.indented(text) == nil || text.isEmpty)
    }

    @Test("an indented random document says the same: equal tags, attributes and texts in order") func sameContent() throws {
        var random = SeededGenerator(state: 7)
        for _ in 0..<2_000 {
            let document = Self.element(depth: 0, &random)
            let indented = try #require(Self.indented(document))
            #expect(Self.content(of: document) == Self.content(of: indented), "\(document)")
        }
    }

    private struct SeededGenerator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    private static func element(depth: Int, _ random: inout SeededGenerator) -> String {
        let children = depth > 4 ? 0 : Int.random(in: 0...3, using: &random)
        let hasText = Int.random(in: 0...3, using: &random) == 0
        var content = ""
        for _ in 0..<children {
            content += [" ", "\n  ", ""].randomElement(using: &random) ?? ""
            content += element(depth: depth + 1, &random)
        }
        if hasText { content += " t " }
        return "<e\(children) k=\"&gt; '\">\(content)</e\(children)>"
    }

    /// The parsed document, without white space between elements that have no text.
    private static func content(of document: String) -> String {
        func describe(_ element: XMLElement) -> String {
            let children = element.children.map(describe).joined()
            let text = element.text.trimmingSpaces
            return
                "(\(element.localName) \(element.attributes.map { "\($0.localName)=\($0.value)" }) \(text.isEmpty ? "" : element.text) \(children))"
        }
        return (try? XMLParser().parse(Array(document.utf8))).map { describe($0.root) } ?? "unreadable"
    }
}

extension String {
    fileprivate var trimmingSpaces: String { filter { !$0.isWhitespace } }
}
