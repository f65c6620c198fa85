import PresenceDocuments
import SIPCore
import Testing
import XMLCore

@testable import PresenceGateway

@Suite struct UpstreamContentTests {
    let parser = XMLParser()
    let categories = Array(Bench.categories("bob@contoso.com", Bench.state(3_500)).utf8)

    func read(_ body: [UInt8], _ type: String) throws -> UpstreamContent {
        try UpstreamContent(body, contentType: MediaType(type), presentities: ["sip:bob@contoso.com"], parser: parser)
    }

    @Test("a bare categories document of the presentity is taken, one of somebody else is not")
    func bare() throws {
        #expect(try read(categories, "application/msrtc-event-categories+xml").reports.first?.categories?.count == 1)
        let other = Array(Bench.categories("eve@contoso.com", Bench.state(3_500)).utf8)
        #expect(try read(other, "application/msrtc-event-categories+xml").reports.isEmpty)
    }

    @Test("MS-PRES 3.4.5.1.3.1 the list says that the presentity lives elsewhere")
    func instanceState() throws {
        let list =
            "<list xmlns=\"urn:ietf:params:xml:ns:rlmi\" uri=\"sip:ann@example.org\" version=\"0\" fullState=\"false\">"
            + "<resource uri=\"bob@contoso.com\"><instance id=\"0\" state=\"resubscribe\" poolFqdn=\"sip:pool@contoso.com;gruu\"/></resource></list>"
        let content = try read(Array(list.utf8), "application/rlmi+xml")
        #expect(content.reports.first?.instanceState == .init(state: .resubscribe, poolFqdn: "sip:pool@contoso.com;gruu"))
    }

    @Test("what cannot be read is 400, what was not asked for 415")
    func refusals() {
        #expect { try read(Array(categories.dropLast(5)), "application/msrtc-event-categories+xml") } throws: {
            ($0 as? Refusal)?.status == .badRequest
        }
        #expect { try read(categories, "text/plain") } throws: { ($0 as? Refusal)?.status == .unsupportedMediaType }
        #expect { try read(categories, "multipart/related; boundary=b") } throws: { ($0 as? Refusal)?.status == .badRequest }
        #expect { try read(Array("<presence/>".utf8), "application/pidf+xml") } throws: { ($0 as? Refusal)?.status == .badRequest }
    }
}
