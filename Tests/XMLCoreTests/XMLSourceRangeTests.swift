import Testing
import XMLCore

/// Ranges of elements and attributes in the octets of their document.
@Suite struct XMLSourceRangeTests {
    private static let document = """
        <?xml version="1.0"?><!-- a > b --><d:doc xmlns:d='urn:example:d' kind = 'a>b' d:kind="c/d" >
          <!-- <item/> --><item id="&#x31;"/><item id='2' >two<![CDATA[<x/>]]></item ><d:last\n/></d:doc\n><!-- end -->
        """

    private func tree() throws -> XMLTree { try XMLTree.parse(Array(Self.document.utf8)) }

    private func text(_ tree: XMLTree, _ range: Range<Int>?) -> String? {
        range.map { String(decoding: tree.source[$0], as: UTF8.self) }
    }

    @Test("XML 1.0 3.1: the range of a start tag ends at its own bracket, not at one in a value")
    func startTags() throws {
        let tree = try tree()
        #expect(text(tree, tree.root.startTagRange) == "<d:doc xmlns:d='urn:example:d' kind = 'a>b' d:kind=\"c/d\" >")
        let children = Array(tree.root.children)
        #expect(children.map { text(tree, $0.startTagRange) } == ["<item id=\"&#x31;\"/>", "<item id='2' >", "<d:last\n/>"])
    }

    @Test("XML 1.0 3.1: content lies between the tags; an empty-element tag has none")
    func content() throws {
        let tree = try tree()
        let content = try #require(text(tree, tree.root.contentRange))
        #expect(content.hasPrefix("\n  <!-- <item/> -->") && content.hasSuffix("<d:last\n/>"))
        #expect(tree.root.children.map { text(tree, $0.contentRange) } == [nil, "two<![CDATA[<x/>]]>", nil])
        let empty = try XMLTree.parse(Array("<a></a>".utf8))
        #expect(empty.root.contentRange == 3..<3)
    }

    @Test("Namespaces 1.0 6: attributes are found by expanded name, with the ranges of value and whole attribute")
    func attributes() throws {
        let tree = try tree()
        let root = tree.root
        #expect(text(tree, root.sourceRange(ofAttribute: "kind", in: "")?.whole) == " kind = 'a>b'")
        #expect(text(tree, root.sourceRange(ofAttribute: "kind", in: "urn:example:d")?.whole) == " d:kind=\"c/d\"")
        #expect(text(tree, root.sourceRange(ofAttribute: "kind", in: "urn:example:d")?.value) == "c/d")
        #expect(root.sourceRange(ofAttribute: "kind", in: "urn:example:e") == nil)
        #expect(root.sourceRange(ofAttribute: "d", in: "") == nil)
        let first = try #require(root.children.first { _ in true })
        #expect(text(tree, first.sourceRange(ofAttribute: "id", in: "")?.value) == "&#x31;")
        #expect(first.value(ofAttribute: "id", in: "") == "1")
        #expect(first.value(ofAttribute: "id", in: "urn:example:d") == nil)
    }

    @Test("Namespaces 1.0 2.1: names from a peer are compared by expanded name")
    func names() throws {
        let root = try tree().root
        #expect(root.isNamed("doc", in: "urn:example:d") && !root.isNamed("doc", in: "") && !root.isNamed("do", in: "urn:example:d"))
        let first = try #require(root.children.first { _ in true })
        #expect(first.isNamed("item", in: "") && !first.isNamed("item", in: "urn:example:d"))
        #expect(root.qualifiedName == "d:doc" && first.qualifiedName == "item")
    }

    @Test("Namespaces 1.0 6.1: the declaration of the nearest element is in scope")
    func scopes() throws {
        let tree = try XMLTree.parse(
            Array("<a xmlns='urn:example:a' xmlns:b='urn:example:b'><b:c xmlns:b='urn:example:c' xmlns=''/></a>".utf8))
        let inner = try #require(tree.root.children.first { _ in true })
        #expect(inner.declarationsInScope.map { "\($0.prefix)=\($0.uri)" } == ["b=urn:example:c", "="])
        #expect(tree.root.declarationsInScope.map { "\($0.prefix)=\($0.uri)" } == ["=urn:example:a", "b=urn:example:b"])
    }

    @Test(
        "XML 1.0 4.3.3: the declared encoding is read, with a byte order mark too",
        arguments: [
            ("<?xml version=\"1.0\" encoding=\"US-ASCII\"?><a/>", "US-ASCII"),
            ("\u{FEFF}<?xml version='1.0' encoding='utf-8'?><a/>", "utf-8"),
            ("<?xml version='1.0'?><a encoding='x'/>", nil), ("<a/>", nil), ("", nil),
        ])
    func encodings(_ document: String, _ expected: String?) {
        #expect(XMLDeclaredEncoding.name(in: Array(document.utf8)) == expected)
    }
}
