import Testing
import XCAP
import XMLCore

/// Numbers from a seed, so that a failure can be played again.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state &* 0x2545_F491_4F6C_DD1D
    }

    mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &self) == 0 }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &self)] }
}

/// Document as a tree in memory, which writes itself with random white space, comments, quotes and references.
private final class Model {
    var name: String
    var attributes: [(name: String, value: String)]
    var children: [Model] = []

    init(_ name: String, _ attributes: [(name: String, value: String)] = []) {
        self.name = name
        self.attributes = attributes
    }

    static let names = ["a", "b", "x:c"]

    static func random(depth: Int, _ random: inout SeededGenerator) -> Model {
        let model = Model(random.pick(names))
        for name in ["k", "x:k", "l"] where random.chance(2) { model.attributes.append((name, random.pick(["1", "2", "a&b\"", "é>"]))) }
        if depth > 0 {
            for _ in 0..<Int.random(in: 0...3, using: &random) { model.children.append(.random(depth: depth - 1, &random)) }
        }
        return model
    }

    func text(_ random: inout SeededGenerator) -> String {
        let noise = ["", "", " ", "\n  ", "<!-- <a k='1'/> -->", "<?pi <a> ?>", "t&#x65;xt", "<![CDATA[<b/>]]>", "é"]
        var result = "<" + name
        for attribute in attributes {
            result += random.pick([" ", "\n", "  "]) + attribute.name + random.pick(["=", " = "]) + Self.quoted(attribute.value, &random)
        }
        result += random.pick(["", " "])
        guard !children.isEmpty || random.chance(2) else { return result + "/>" }
        result += ">"
        for child in children { result += random.pick(noise) + child.text(&random) }
        return result + random.pick(noise) + "</" + name + random.pick(["", " "]) + ">"
    }

    private static func quoted(_ value: String, _ random: inout SeededGenerator) -> String {
        let quote = random.pick(["\"", "'"])
        var result = value.replacing("&", with: "&amp;").replacing("1", with: random.pick(["1", "&#49;"]))
        result = quote == "\"" ? result.replacing("\"", with: "&quot;") : result.replacing("'", with: "&apos;")
        return quote + result + quote
    }

    /// All elements with the selectors of their steps.
    func selectors(after path: String = "*") -> [(Model, String)] {
        var result = [(self, path)]
        for (index, child) in children.enumerated() { result += child.selectors(after: "\(path)/*[\(index + 1)]") }
        return result
    }
}

/// Random edits of random documents.
@Suite struct EditPropertyTests {
    /// Usage without schema, so that any element may be anywhere.
    private static let usage = ApplicationUsage(auid: "any", mediaType: "application/xml", defaultNamespace: "urn:example:d")

    private struct Case {
        var server: XCAPProcessor
        var root: Model
        var stored: StoredDocument
        var random: SeededGenerator

        init(seed: Int) {
            random = SeededGenerator(seed: UInt64(seed))
            root = Model.random(depth: 4, &random)
            root.name = "root"
            root.attributes += [("xmlns", "urn:example:d"), ("xmlns:x", "urn:example:x")]
            let octets = Array(("<?xml version=\"1.0\"?>\n<!-- head -->" + root.text(&random) + "\n<!-- foot -->").utf8)
            stored = StoredDocument(octets: octets, tag: EntityTag(value: "1"))
            server = XCAPProcessor(root: XCAPFixture.root, usages: [EditPropertyTests.usage])
        }

        func send(_ method: XCAPMethod, _ selector: String, _ body: String, on stored: StoredDocument) throws -> XCAPResponse {
            let uri = try XCAPURI(
                target: "/xcap-root/any/users/sip:mara@example.com/index/~~/" + escaped(selector) + "?xmlns(x=urn:example:x)",
                root: XCAPFixture.root)
            let type = selector.split(separator: "/").last?.hasPrefix("@") == true ? XCAPFixture.attribute : XCAPFixture.element
            return server.perform(
                XCAPRequest(method, uri, contentType: type, body: Array(body.utf8)), on: stored, usage: EditPropertyTests.usage)
        }
    }

    private func stored(_ response: XCAPResponse) throws -> StoredDocument {
        guard case .store(let document) = response.change else {
            throw Failure(text: "\(response.status) \(response.reason ?? "")")
        }
        return document
    }

    private struct Failure: Error { var text: String }

    /// Whether both sides differ only in one range, which in the new one is the node.
    private func outside(_ before: [UInt8], _ old: Range<Int>, _ after: [UInt8], _ new: Range<Int>) -> Bool {
        before[..<old.lowerBound].elementsEqual(after[..<new.lowerBound])
            && before[old.upperBound...].elementsEqual(after[new.upperBound...])
    }

    private func range(_ selector: String, in octets: [UInt8]) throws -> Range<Int> {
        var element = try XMLTree.parse(octets).root
        for step in selector.split(separator: "/").dropFirst() {
            let position = Int(step.dropFirst(2).dropLast()) ?? 0
            element = Array(element.children)[position - 1]
        }
        return element.sourceRange
    }

    private func equal(_ octets: [UInt8], _ model: Model, _ random: inout SeededGenerator) -> String? {
        // Comments, white space and text are noise of the writing; compare elements and attributes.
        func describe(_ element: XMLElement) -> String {
            let attributes = element.attributes.map { "{\($0.namespace)}\($0.localName)=\($0.value)" }.sorted()
            return "{\(element.namespace)}\(element.localName)(\(attributes))[\(element.children.map(describe).joined(separator: ","))]"
        }
        guard let actual = try? XMLTree.parse(octets).root, let expected = try? XMLTree.parse(Array(model.text(&random).utf8)).root else {
            return "not read"
        }
        let (left, right) = (describe(actual), describe(expected))
        return left == right ? nil : "\(left)\n\(right)"
    }

    @Test("RFC 4825 8.2: a replaced element is the put octets, and every octet outside stays [R556]", arguments: 0..<300)
    func replacing(_ seed: Int) throws {
        var one = Case(seed: seed)
        let (model, selector) = one.random.pick(one.root.selectors())
        guard model !== one.root else { return }
        let new = Model.random(depth: 2, &one.random)
        let body = new.text(&one.random)
        let after = try stored(try one.send(.put, selector, body, on: one.stored))
        let range = try range(selector, in: one.stored.octets)
        #expect(outside(one.stored.octets, range, after.octets, range.lowerBound..<range.lowerBound + body.utf8.count))
        #expect(try one.send(.get, selector, "", on: after).body == Array(body.utf8))
        (model.name, model.attributes, model.children) = (new.name, new.attributes, new.children)
        #expect(equal(after.octets, one.root, &one.random) == nil)
    }

    @Test("RFC 4825 8.2.3, 8.4: DELETE after the PUT of a new element gives the document before [R557]", arguments: 0..<300)
    func insertingAndDeleting(_ seed: Int) throws {
        var one = Case(seed: seed)
        let (model, selector) = one.random.pick(one.root.selectors())
        let new = Model("x:new", [("id", "n")])
        new.children = [Model.random(depth: 1, &one.random)]
        let body = new.text(&one.random)
        let isFirst = !model.children.isEmpty && one.random.chance(2)
        let target =
            selector + (isFirst ? "/*[1][@id=\"n\"]" : one.random.pick(["/x:new", "/x:new[1]", "/*[@id=\"n\"]", "/x:new[@id='n']"]))
        let response = try one.send(.put, target, body, on: one.stored)
        #expect(response.status == 201, "\(response.reason ?? "")")
        let after = try stored(response)
        #expect(try one.send(.get, target, "", on: after).body == Array(body.utf8))
        let before = one.stored.octets
        let again = try one.send(.put, target, body, on: after)
        #expect(again.status == 200 && again.change == .none && again.entityTag == after.tag)
        let wasEmptyTag = try XMLTree.parse(before).root.tag(at: range(selector, in: before).lowerBound)
        let gone = try stored(try one.send(.delete, target, "", on: after))
        if wasEmptyTag {
            #expect(equal(gone.octets, one.root, &one.random) == nil)
        } else {
            #expect(gone.octets == before)
        }
        model.children.append(new)
        #expect(sameSet(after.octets, one.root, &one.random))
    }

    /// Compares with the order of siblings left out where the position depends on names.
    private func sameSet(_ octets: [UInt8], _ model: Model, _ random: inout SeededGenerator) -> Bool {
        func describe(_ element: XMLElement) -> String {
            "{\(element.namespace)}\(element.localName)[\(element.children.map(describe).sorted().joined(separator: ","))]"
        }
        guard let actual = try? XMLTree.parse(octets).root, let expected = try? XMLTree.parse(Array(model.text(&random).utf8)).root else {
            return false
        }
        return describe(actual) == describe(expected)
    }

    @Test("RFC 4825 7.8: a put attribute is the put octets, and its removal gives the document before [R558]", arguments: 0..<300)
    func attributes(_ seed: Int) throws {
        var one = Case(seed: seed)
        let (model, selector) = one.random.pick(one.root.selectors())
        let name = one.random.pick(["k", "x:k", "new", "x:new"])
        let value = one.random.pick(["", "1", "a&amp;b", "&#x31;'", "\"", "é>"])
        let target = selector + "/@" + name
        let wasThere = model.attributes.contains { $0.name == name }
        let response = try one.send(.put, target, value, on: one.stored)
        #expect(response.status == (wasThere ? 200 : 201), "\(response.reason ?? "")")
        let after = response.change == .none ? one.stored : try stored(response)
        #expect(try one.send(.get, target, "", on: after).body == Array(value.utf8))
        let meaning = value.replacing("&amp;", with: "&").replacing("&#x31;", with: "1")
        if let index = model.attributes.firstIndex(where: { $0.name == name }) {
            model.attributes[index].value = meaning
        } else {
            model.attributes.append((name, meaning))
            let gone = try stored(try one.send(.delete, target, "", on: after))
            #expect(gone.octets == one.stored.octets)
        }
        #expect(equal(after.octets, one.root, &one.random) == nil)
    }

    @Test(
        "RFC 4825 8: random content and selectors never change a document without a 200 or 201, and never stop the program",
        arguments: 0..<300)
    func anything(_ seed: Int) throws {
        var one = Case(seed: seed)
        var body = Array(Model.random(depth: 1, &one.random).text(&one.random).utf8)
        for _ in 0..<Int.random(in: 1...3, using: &one.random) where !body.isEmpty {
            let index = Int.random(in: 0..<body.count, using: &one.random)
            if one.random.chance(2) { body.remove(at: index) } else { body[index] = one.random.pick(Array("<>/&\"'= \u{0}é".utf8)) }
        }
        let (_, selector) = one.random.pick(one.root.selectors())
        let target = selector + one.random.pick(["", "/a", "/b[2]", "/x:c[@k='1']", "/@k", "/*", "/*[2]"])
        let response = try one.send(.put, target, String(decoding: body, as: UTF8.self), on: one.stored)
        switch response.change {
        case .none: #expect(response.status == 409 || response.status == 200)
        case .remove: Issue.record("a PUT removes nothing")
        case .store(let document):
            #expect(response.status == 200 || response.status == 201)
            #expect(throws: Never.self) { try XMLTree.parse(document.octets) }
            let got = try one.send(.get, target, "", on: document)
            #expect(String(decoding: body, as: UTF8.self).contains(got.text))
        }
    }
}

extension XMLElement {
    /// Whether the element that begins at an offset is an empty-element tag.
    fileprivate func tag(at offset: Int) -> Bool {
        var current: XMLElement? = self
        while let element = current {
            if element.sourceRange.lowerBound == offset { return element.contentRange == nil }
            current = element.children.first { $0.sourceRange.contains(offset) }
        }
        return false
    }
}
