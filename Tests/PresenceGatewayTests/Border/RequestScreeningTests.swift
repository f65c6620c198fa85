import FederationRouting
import SIPCore
import Testing

@testable import PresenceGateway

@Suite struct RequestScreeningTests {
    @Test("a hop mark names node and presentity, and is passed on once")
    func hopMark() throws {
        let mark = HopMark(node: "edge1.example.net", presentity: "sip:bob@contoso.com")
        #expect(mark.token.utf8.count == 16)
        #expect(mark.token != HopMark(node: "edge2.example.net", presentity: "sip:bob@contoso.com").token)
        #expect(mark.token != HopMark(node: "edge1.example.net", presentity: "sip:rob@contoso.com").token)
        var headers = SIPHeaders()
        #expect(try mark.passOn(headers) == mark.token)
        headers.append(HopMark.header, "0123456789abcdef")
        let passed = try mark.passOn(headers)
        #expect(passed == "0123456789abcdef, \(mark.token)")
        headers.set(HopMark.header, passed)
        #expect(throws: Refusal.loop) { try mark.passOn(headers) }
        headers.set(HopMark.header, Array(repeating: "0123456789abcdef", count: 16).joined(separator: ","))
        #expect(throws: Refusal.tooManyHops) { try mark.passOn(headers) }
    }

    @Test("a digest has 16 hexadecimal digits, with leading zeros")
    func digest() {
        #expect(PresenceDigest().hex == "cbf29ce484222325", "the hash of no octets")
        var leadingZeros = 0
        for number in 0..<200 {
            let digest = PresenceDigest(of: "edge\(number).example.net")
            #expect(digest.hex.utf8.count == 16 && UInt64(digest.hex, radix: 16) == digest.value)
            #expect(digest.hex == digest.hex.lowercased())
            if digest.hex.hasPrefix("0") { leadingZeros += 1 }
        }
        #expect(leadingZeros > 0)
    }

    @Test("a change of a copied domain leaves the other copy as it is")
    func domainCopies() {
        let domain = DomainConfiguration(side: .simple, hosted: true)
        var changed = domain
        changed.federation.network = .publicCloud
        changed.partial = false
        #expect(domain.network == .federated && domain.partial && domain != changed)
        changed.federation.network = .federated
        changed.partial = true
        #expect(domain == changed && Set([domain, changed]).count == 1)
    }

    @Test("refusals speak the manner of the side that asked")
    func manners() {
        var enterprise = SIPResponse(.forbidden)
        Refusal.forbidden("no").apply(to: &enterprise, side: .enterprise, node: "edge1.example.net")
        #expect(enterprise.headers.msDiagnostics == MSDiagnostics(2_004, reason: "no", source: "edge1.example.net"))
        #expect(!enterprise.headers.contains(.warning))
        var simple = SIPResponse(.forbidden)
        Refusal.forbidden("no").apply(to: &simple, side: .simple, node: "edge1.example.net")
        #expect(simple.headers.warnings == [Warning(code: 399, agent: "edge1.example.net", text: "no")])
        #expect(!simple.headers.contains(.msDiagnostics))
    }

    @Test("MS-PRES 3.4.5.1.3.1 resource URIs come with and without their scheme")
    func addresses() {
        #expect(CategoryRequest.address("bob@contoso.com")?.aorKey == "sip:bob@contoso.com")
        #expect(CategoryRequest.address("sip:bob@contoso.com;x=y")?.aorKey == "sip:bob@contoso.com")
        #expect(CategoryRequest.address("http://contoso.com") == nil)
    }
}
