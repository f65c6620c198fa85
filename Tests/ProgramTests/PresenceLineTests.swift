import Foundation
import PresenceDocuments
import PresenceMapping
import Testing

@testable import isthmus

@Suite struct PresenceLineTests {
    static let moment = DateTime(nanosecondsSince1970: 1_772_442_900_000_000_000)

    static let pidf = """
        <presence xmlns="urn:ietf:params:xml:ns:pidf" xmlns:dm="urn:ietf:params:xml:ns:pidf:data-model"
            xmlns:rpid="urn:ietf:params:xml:ns:pidf:rpid" entity="sip:alice@example.org">
        <tuple id="t"><status><basic>open</basic></status></tuple>
        <dm:person id="p"><rpid:activities><rpid:on-the-phone/></rpid:activities><dm:note>Until ten\u{9b}31m</dm:note></dm:person></presence>
        """

    @Test(
        "a document of each form is said in the same words; what could control a terminal is left out",
        arguments: ["pidf", "categories", "msrtc", "xpidf"])
    func forms(name: String) throws {
        let format = try #require(PresenceFormat(named: name))
        let converter = Converter()
        let document = try converter.convert(Array(Self.pidf.utf8), from: .pidf, to: format, options: ConversionOptions(at: Self.moment))
            .bytes
        let line = try #require(PresenceLine(document, type: format.mediaType + ";charset=UTF-8", at: Self.moment, converter)?.text)
        #expect(line.hasPrefix("09:15:00 sip:alice@example.org open"), "\(line)")
        if name == "pidf" || name == "categories" {
            // The availability of a call is that of busy (MS-PRES 2.2.2.7.1).
            #expect(line == "09:15:00 sip:alice@example.org open, \(name == "pidf" ? "" : "busy, ")on-the-phone, \"Until ten 31m\"")
        }
    }

    @Test("a document of another type, a broken one, and one without state have no line") func others() {
        let converter = Converter()
        #expect(PresenceLine(Array(Self.pidf.utf8), type: "application/rlmi+xml", at: Self.moment, converter) == nil)
        #expect(PresenceLine(Array("<presence".utf8), type: "application/pidf+xml", at: Self.moment, converter) == nil)
        let card = """
            <categories xmlns="http://schemas.microsoft.com/2006/09/sip/categories" uri="sip:bob@contoso.com"><category name="contactCard"/></categories>
            """
        #expect(PresenceLine(Array(card.utf8), type: PresenceFormat.categories.mediaType, at: Self.moment, converter) == nil)
        let note = """
            <categories xmlns="http://schemas.microsoft.com/2006/09/sip/categories" uri="sip:bob@contoso.com"><category name="note" instance="0">
            <note xmlns="http://schemas.microsoft.com/2006/09/sip/note"><body type="personal">Back soon</body></note></category></categories>
            """
        #expect(
            PresenceLine(Array(note.utf8), type: PresenceFormat.categories.mediaType, at: Self.moment, converter)?.text
                == "09:15:00 sip:bob@contoso.com \"Back soon\"")
    }
}
