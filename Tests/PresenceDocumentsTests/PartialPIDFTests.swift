import PresenceDocuments
import Testing
import XMLCore

/// Independent reader of partial documents: parses selectors as RFC 5261 defines them, without the code that writes them.
private struct Copy {
    var parts: [XMLFragment] = []
    var version = ""

    mutating func apply(_ bytes: [UInt8]) throws {
        let root = try XMLTree.parse(bytes).root
        version = root.attribute("version") ?? ""
        #expect(root.namespace == "urn:ietf:params:xml:ns:pidf-diff")
        if root.localName == "pidf-full" {
            parts = root.children.map { $0.fragment() }
            return
        }
        #expect(root.localName == "pidf-diff")
        for operation in root.children {
            let selector = try #require(operation.attribute("sel"))
            let content = operation.children.first { _ in true }?.fragment()
            if selector == "*" {
                #expect(operation.localName == "add" && operation.attribute("pos") == "prepend")
                parts.insert(try #require(content), at: 0)
                continue
            }
            let place = try find(selector, in: operation)
            switch operation.localName {
            case "replace": parts[place] = try #require(content)
            case "remove": parts.remove(at: place)
            case "add":
                #expect(operation.attribute("pos") == "after")
                parts.insert(try #require(content), at: place + 1)
            default: Issue.record("unknown operation \(operation.localName)")
            }
        }
    }

    /// `*/prefix:name[@id='x']` or `*/prefix:name[n]`; exactly one component.
    private func find(_ selector: String, in operation: XMLElement) throws -> Int {
        #expect(selector.hasPrefix("*/"))
        let step = selector.dropFirst(2)
        let bracket = try #require(step.firstIndex(of: "["))
        let name = try #require(operation.resolve(qualifiedName: String(step[..<bracket])))
        let predicate = step[step.index(after: bracket)...].dropLast()
        let like = try parts.indices.filter {
            let element = try parts[$0].parsed()
            return element.localName == name.localName && element.namespace == name.namespace
        }
        if let number = Int(predicate) {
            try #require(number >= 1 && number <= like.count)
            return like[number - 1]
        }
        let id = predicate.dropFirst(5).dropLast()
        let found = try like.filter { try parts[$0].parsed().attribute("id") == String(id) }
        try #require(found.count == 1)
        return found[0]
    }

    /// PIDF document that the copy represents.
    func document(like root: XMLElement) -> [UInt8] {
        var writer = XMLWriter(declaration: false)
        writer.start("presence")
        writer.namespace("", "urn:ietf:params:xml:ns:pidf")
        for attribute in root.attributes { writer.attribute(attribute) }
        for part in parts { writer.fragment(part) }
        return writer.finish()
    }
}

@Suite struct PartialPIDFTests {
    private static func root(_ body: String) throws -> XMLElement {
        let text =
            "<presence xmlns=\"urn:ietf:params:xml:ns:pidf\" xmlns:dm=\"urn:ietf:params:xml:ns:pidf:data-model\""
            + " xmlns:x=\"urn:example:x\" entity=\"sip:alice@example.com\">\(body)</presence>"
        return try XMLTree.parse(Array(text.utf8)).root
    }

    private static func tuple(_ id: String, _ basic: String) -> String {
        "<tuple id=\"\(id)\"><status><basic>\(basic)</basic></status></tuple>"
    }

    @Test("RFC 5262 3: a changed tuple is replaced and nothing else is written")
    func replacesTuple() throws {
        // Long notes, so that the difference is worth it.
        let rest = (0..<20).map { "<note>nothing new in note \($0)</note>" }.joined()
        let old = try Self.root(Self.tuple("a", "open") + Self.tuple("b", "open") + rest)
        let new = try Self.root(Self.tuple("a", "open") + Self.tuple("b", "closed") + rest)
        let bytes = try #require(PartialPIDF(from: old, to: new)?.encoded(version: 2))
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(
            text.contains("<p:replace sel=\"*/tuple[@id='b']\"><tuple id=\"b\"><status><basic>closed</basic></status></tuple></p:replace>"))
        #expect(text.contains("version=\"2\""))
        #expect(!text.contains("'a'") && !text.contains("note"))
    }

    @Test("RFC 5262 4.1: the full document keeps content, entity and prefixes under pidf-full")
    func full() throws {
        let root = try XMLTree.parse(Array(PIDFTests.rich.utf8)).root
        var copy = Copy()
        try copy.apply(PartialPIDF(full: root).encoded(version: 1))
        #expect(copy.version == "1")
        #expect(XMLCanonical().difference(expected: Array(PIDFTests.rich.utf8), actual: copy.document(like: root)) == nil)
    }

    @Test("RFC 5262: where a difference says no less, or cannot be said, the full document is to be sent")
    func refusesDifference() throws {
        let one = try Self.root(Self.tuple("a", "open"))
        #expect(PartialPIDF(from: one, to: try Self.root(Self.tuple("a", "closed")))?.encoded(version: 2) == nil)
        let filling = "<note>\(String(repeating: "so it is ", count: 200))</note>"
        let ordered = try Self.root(Self.tuple("a", "open") + Self.tuple("b", "open") + filling)
        let turned = try Self.root(Self.tuple("b", "open") + Self.tuple("a", "open") + filling)
        #expect(PartialPIDF(from: ordered, to: turned)?.encoded(version: 2) == nil)
        let twice = try Self.root(Self.tuple("a", "open") + Self.tuple("a", "closed") + filling)
        #expect(PartialPIDF(from: twice, to: ordered)?.encoded(version: 2) == nil)
        let other = try XMLTree.parse(
            Array("<presence xmlns=\"urn:ietf:params:xml:ns:pidf\" entity=\"sip:bob@example.com\"/>".utf8)
        ).root
        #expect(PartialPIDF(from: ordered, to: other)?.encoded(version: 2) == nil)
        let quotes = try Self.root("<tuple id=\"&quot;'\"><status/></tuple>" + filling)
        #expect(PartialPIDF(from: ordered, to: quotes)?.encoded(version: 2) == nil)
    }

    @Test("RFC 5263: a patched copy equals the whole document after every one of four hundred changes")
    func patchedCopyEqualsDocument() throws {
        var state = UInt64(5_262)
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
        // Optional parts, in the order of the schema.
        let makers: [(Int) -> String] =
            (0..<6).map { index in { value in Self.tuple("t\(index)", value == 0 ? "open" : "closed") } }
            + (0..<4).map { index in { value in "<note>note \(index) of kind \(value)</note>" } }
            + (0..<3).map { index in { value in "<dm:person id=\"p'\(index)\"><dm:note>person \(value)</dm:note></dm:person>" } }
            + (0..<2).map { index in { value in "<x:mark>\(index)\(value)</x:mark>" } }
            + [{ value in "<y:own xmlns:y=\"urn:example:y\" id=\"o\">\(value)</y:own>" }]
        let padding = "<x:end>\(String(repeating: "the same as ever ", count: 120))</x:end>"
        var present = makers.map { _ in 0 }
        var old = try Self.root(padding)
        var copy = Copy()
        try copy.apply(PartialPIDF(full: old).encoded(version: 1))
        var differences = 0
        for round in 2..<402 {
            for _ in 0..<(1 + random(3)) { present[random(present.count)] = random(3) }
            let body = makers.indices.filter { present[$0] > 0 }.map { makers[$0](present[$0] - 1) }.joined()
            let new = try Self.root(body + padding)
            if let bytes = PartialPIDF(from: old, to: new)?.encoded(version: UInt32(round)) {
                differences += 1
                try copy.apply(bytes)
            } else {
                try copy.apply(PartialPIDF(full: new).encoded(version: UInt32(round)))
            }
            #expect(copy.version == String(round))
            #expect(XMLCanonical().difference(expected: new.sourceBytes, actual: copy.document(like: new)) == nil)
            old = new
        }
        #expect(differences > 350)
    }
}
