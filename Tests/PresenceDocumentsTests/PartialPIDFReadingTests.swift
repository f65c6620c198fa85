import PresenceDocuments
import Testing
import XMLCore

@Suite struct PartialPIDFReadingTests {
    private static let namespaces =
        "xmlns=\"urn:ietf:params:xml:ns:pidf\" xmlns:p=\"urn:ietf:params:xml:ns:pidf-diff\" xmlns:r=\"urn:ietf:params:xml:ns:pidf:rpid\""
        + " xmlns:dm=\"urn:ietf:params:xml:ns:pidf:data-model\" entity=\"sip:mara@example.com\""

    private static func full(_ version: UInt32, _ body: String = body) -> [UInt8] {
        Array("<p:pidf-full \(namespaces) version=\"\(version)\">\(body)</p:pidf-full>".utf8)
    }

    private static func difference(_ version: UInt32, _ operations: String) -> [UInt8] {
        Array("<p:pidf-diff \(namespaces) version=\"\(version)\">\(operations)</p:pidf-diff>".utf8)
    }

    private static let body = """

        <tuple id="a1"><status><basic>open</basic></status><contact priority="0.5">sip:mara@example.com</contact></tuple>
        <note xml:lang="en">hello</note>
        <dm:person id="p1"><r:activities><r:away/></r:activities></dm:person>

        """
    private static let closes = "<p:replace sel=\"presence/tuple[@id='a1']/status/basic/text()\">closed</p:replace>"

    private func document(_ outcome: PartialPIDFCopy.Outcome) throws -> PIDFDocument {
        guard case .document(let document) = outcome else {
            Issue.record("\(outcome)")
            throw CancellationError()
        }
        return document
    }

    @Test("RFC 5262 4: a full document is taken over, then differences of every kind change it")
    func example() throws {
        var copy = PartialPIDFCopy()
        let first = try document(copy.receive(Self.full(1)))
        #expect(first.entity == "sip:mara@example.com" && first.tuples.first?.basic == .open && copy.version == 1)
        let operations =
            Self.closes + "<p:replace sel=\"*/tuple[@id='a1']/contact/@priority\">0.9</p:replace>"
            + "<p:add sel=\"*/note\" pos=\"before\"><tuple id=\"a2\"><status><basic>open</basic></status></tuple></p:add>"
            + "<p:add sel=\"*/dm:person[@id='p1']/r:activities\"><r:meeting/></p:add>"
            + "<p:remove sel=\"id('p1')/r:activities/r:away\"/><p:remove sel=\"p:pidf-full/note\" ws=\"after\"/>"
        let second = try document(copy.receive(Self.difference(2, operations)))
        #expect(second.tuples.map(\.id) == ["a1", "a2"] && second.tuples.first?.basic == .closed)
        #expect(second.tuples.first?.contact?.priority == 900 && second.notes.isEmpty)
        #expect(second.persons.first?.rpid.activities.first?.values == [.meeting])
    }

    @Test("RFC 5263 4.4: the next version is applied, older and equal ones are not, a gap needs the full state")
    func versions() throws {
        var copy = PartialPIDFCopy()
        #expect(try copy.receive(Self.difference(1, Self.closes)) == .gap)
        _ = try copy.receive(Self.full(7))
        #expect(try copy.receive(Self.difference(7, Self.closes)) == .outdated)
        #expect(try copy.receive(Self.difference(6, Self.closes)) == .outdated)
        #expect(try copy.receive(Self.difference(9, Self.closes)) == .gap)
        #expect(copy.version == 7)
        #expect(try document(copy.receive(Self.difference(8, Self.closes))).tuples.first?.basic == .closed)
        // A full document is accepted with any version.
        #expect(try document(copy.receive(Self.full(20))).tuples.first?.basic == .open)
        #expect(copy.version == 20)
    }

    @Test("after the largest version comes 0")
    func wrap() throws {
        var copy = PartialPIDFCopy()
        _ = try copy.receive(Self.full(.max))
        #expect(try copy.receive(Self.difference(.max - 1, Self.closes)) == .outdated)
        _ = try document(copy.receive(Self.difference(0, Self.closes)))
        #expect(copy.version == 0)
        #expect(try copy.receive(Self.difference(.max, Self.closes)) == .outdated)
    }

    @Test(
        "RFC 5263 4.4, RFC 5261 5: what cannot be applied leaves the copy as it was",
        arguments: [
            "<p:remove sel=\"presence/tuple[@id='a9']\"/>", "<p:remove sel=\"presence/tuple[@id='a1']/status\"/>",
            "<p:add sel=\"presence\" type=\"@entity\">sip:eve@example.com</p:add>",
            "<p:replace sel=\"presence\"><tuple id=\"a\"/></p:replace>",
            "<p:move sel=\"presence\"/>",
        ])
    func failures(_ operation: String) throws {
        var copy = PartialPIDFCopy()
        _ = try copy.receive(Self.full(1))
        let before = copy
        #expect(throws: PartialPIDFError.self) { try copy.receive(Self.difference(2, Self.closes + operation)) }
        #expect(copy == before)
        #expect(try document(copy.receive(Self.difference(2, ""))).tuples.first?.basic == .open)
    }

    @Test("a partial document without version, of another kind, or that is no XML is refused")
    func refused() throws {
        let texts = [
            "<p:pidf-full \(Self.namespaces)/>", "<p:pidf-full \(Self.namespaces) version=\"-1\"/>", "<presence \(Self.namespaces)/>",
            "<p:pidf-full \(Self.namespaces) version=\"4294967296\"/>",
            "<p:pidf-full xmlns:p=\"urn:ietf:params:xml:ns:pidf-diff\" version=\"1\"/>",
            "pidf-diff", "",
        ]
        for text in texts {
            var copy = PartialPIDFCopy()
            #expect(throws: PartialPIDFError.self, "\(text)") { try copy.receive(Array(text.utf8)) }
            #expect(copy == PartialPIDFCopy())
        }
    }

    @Test("a difference that is too large in operations or result is refused")
    func limits() throws {
        var copy = PartialPIDFCopy()
        _ = try copy.receive(Self.full(1))
        let many = String(repeating: "<p:add sel=\"presence\"><note>n</note></p:add>", count: 501)
        #expect(throws: PartialPIDFError.self) { try copy.receive(Self.difference(2, many)) }
        let long = "<p:add sel=\"presence\"><note>\(String(repeating: "long ", count: 400))</note></p:add>"
        let document = Self.difference(2, long)
        let limits = XMLPatch.Limits(document: XMLLimits(bytes: document.count, keepsSpace: true))
        #expect { try copy.receive(document, limits: limits) } throws: { error in
            if case .patch(let error)? = error as? PartialPIDFError { error.condition == .limit } else { false }
        }
        #expect(copy.version == 1)
    }

    /// Repeatable random numbers.
    private struct Dice {
        var state: UInt64
        mutating func roll(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
    }

    private static func randomDocument(_ dice: inout Dice) -> String {
        var parts: [String] = []
        for index in 0..<5 where dice.roll(3) > 0 {
            let state = dice.roll(2) == 0 ? "open" : "closed"
            let contact = dice.roll(2) == 0 ? "" : "<contact priority=\"0.\(1 + dice.roll(9))\">sip:c\(dice.roll(3))@example.com</contact>"
            parts.append("<tuple id=\"t\(index)\"><status><basic>\(state)</basic></status>\(contact)</tuple>")
        }
        for _ in 0..<dice.roll(3) { parts.append("<note xml:lang=\"en\">note &amp; \(dice.roll(4)) &lt;</note>") }
        for index in 0..<2 where dice.roll(2) > 0 {
            let activity = ["away", "busy", "meeting"][dice.roll(3)]
            parts.append("<dm:person id=\"p\(index)\"><r:activities><r:\(activity)/></r:activities></dm:person>")
        }
        for _ in 0..<dice.roll(3) { parts.append("<x:mark xmlns:x=\"urn:example:x\" x:value=\"\(dice.roll(5))\"/>") }
        let steady = "<dm:device id=\"d\"><dm:deviceID>urn:uuid:48662e19-5fbf-43fc-a2fd-d23002787599</dm:deviceID></dm:device>"
        let padding = "<dm:device id=\"e\"><dm:deviceID>\(String(repeating: "always the same ", count: 60))</dm:deviceID></dm:device>"
        return "<presence xmlns=\"urn:ietf:params:xml:ns:pidf\" xmlns:dm=\"urn:ietf:params:xml:ns:pidf:data-model\""
            + " xmlns:r=\"urn:ietf:params:xml:ns:pidf:rpid\" entity=\"sip:mara@example.com\">\(parts.joined())\(steady)\(padding)</presence>"
    }

    @Test("RFC 5263 4.4: what our notifier writes, our subscriber reads: a thousand random pairs of documents", arguments: 1...10)
    func ownDifferences(_ seed: UInt64) throws {
        var dice = Dice(state: seed &* 5_263)
        var text = Self.randomDocument(&dice)
        var copy = PartialPIDFCopy()
        var differences = 0
        _ = try copy.receive(PartialPIDF(full: XMLTree.parse(Array(text.utf8)).root).encoded(version: 1))
        for version in UInt32(2)...101 {
            let next = Self.randomDocument(&dice)
            let old = try XMLTree.parse(Array(text.utf8)).root
            let new = try XMLTree.parse(Array(next.utf8)).root
            let difference = PartialPIDF(from: old, to: new)
            if difference != nil { differences += 1 }
            let result = try document(copy.receive((difference ?? PartialPIDF(full: new)).encoded(version: version)))
            let wanted = try PIDFDocument.decode(Array(next.utf8))
            #expect(XMLCanonical().difference(expected: wanted.encode(), actual: result.encode()) == nil)
            text = next
        }
        #expect(differences > 60)
    }
}
