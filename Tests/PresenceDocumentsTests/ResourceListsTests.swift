import PresenceDocuments
import Testing
import XMLCore

@Suite struct ResourceListsTests {
    private static let text = """
        <resource-lists xmlns="urn:ietf:params:xml:ns:resource-lists" xmlns:cp="urn:ietf:params:xml:ns:copycontrol">
          <list name="team">
            <display-name xml:lang="en">Team</display-name>
            <entry uri="sip:kai@example.com" cp:copyControl="to"><display-name>Kai</display-name></entry>
            <entry-ref ref="resource-lists/users/sip:kai@example.com/index/~~/resource-lists/list"/>
            <list name="partners"><entry uri="sip:uma@example.org"/><external anchor="https://xcap.example.com/x"/></list>
            <other xmlns="urn:example:other">kept</other>
          </list>
          <list><entry uri="sip:otto@example.net"/></list>
        </resource-lists>
        """

    @Test("RFC 4826 3.1: lists, inner lists, entries and references are read and written")
    func roundTrip() throws {
        let document = try ResourceListsDocument.decode(Array(Self.text.utf8))
        #expect(document.entries.map(\.uri) == ["sip:kai@example.com", "sip:uma@example.org", "sip:otto@example.net"])
        #expect(document.lists.first?.displayName == PIDFNote("Team", language: "en"))
        #expect(document.entries.first?.displayName?.text == "Kai" && document.refersElsewhere)
        #expect(XMLCanonical().difference(expected: Array(Self.text.utf8), actual: document.encode()) == nil)
    }

    @Test("RFC 5363 4: the body of a request is one flat list")
    func flat() throws {
        let document = ResourceListsDocument(entries: ["sip:kai@example.com", "sip:a&b@example.com"])
        let read = try ResourceListsDocument.decode(document.encode())
        #expect(read == document && read.lists.count == 1 && !read.refersElsewhere)
        #expect(read.entries.map(\.uri) == ["sip:kai@example.com", "sip:a&b@example.com"])
    }

    @Test(
        "RFC 4826: another root, an entry without URI and lists without end are refused",
        arguments: [
            "<list xmlns='urn:ietf:params:xml:ns:resource-lists'/>", "<resource-lists/>",
            "<resource-lists xmlns='urn:ietf:params:xml:ns:resource-lists'><list><entry/></list></resource-lists>",
            "<resource-lists xmlns='urn:ietf:params:xml:ns:resource-lists'><list><entry-ref/></list></resource-lists>",
            "<resource-lists xmlns='urn:ietf:params:xml:ns:resource-lists'>" + String(repeating: "<list>", count: 20)
                + String(repeating: "</list>", count: 20) + "</resource-lists>",
        ])
    func refused(_ text: String) {
        #expect(throws: DocumentError.self) { try ResourceListsDocument.decode(Array(text.utf8)) }
    }
}
