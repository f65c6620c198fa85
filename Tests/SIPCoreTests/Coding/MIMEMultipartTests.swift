import Testing

@testable import SIPCore

@Suite struct MIMEMultipartTests {
    @Test("RFC 2387 3.2 the start parameter names the root")
    func related() throws {
        let type = try #require(MediaType("multipart/related; type=\"application/rlmi+xml\"; start=\"<r@x>\"; boundary=\"b 1\""))
        let body = wire(
            "preamble\n--b 1\nContent-ID: <p@x>\nContent-Type: application/pidf+xml\n\n<p/>\n--b 1  \nContent-ID: <r@x>\n\n<r/>\n--b 1--\nepilogue"
        )
        let multipart = try MIMEMultipart(body, contentType: type)
        #expect(multipart.parts.count == 2)
        #expect(multipart.root?.body == Array("<r/>".utf8))
        #expect(multipart.part(contentID: "p@x")?.contentType?.essence == "application/pidf+xml")
        #expect(multipart.parts[0].body == Array("<p/>".utf8))
    }

    @Test("each written part ends with an empty line, and the boundary never occurs inside")
    func writing() throws {
        let parts = [
            MIMEPart(contentType: MediaType("text", "plain"), contentID: "1@x", body: Array("x --b y".utf8)),
            MIMEPart(contentType: MediaType("text", "plain"), body: []),
        ]
        let multipart = MIMEMultipart(boundary: "b", parts: parts, parameters: SIPParameters([.init("type", "text/plain")]))
        let (type, body) = multipart.serialized()
        #expect(type.parameters["boundary"] == "bx")
        let text = String(decoding: body, as: UTF8.self)
        #expect(text.contains("x --b y\r\n\r\n--bx\r\n"))
        #expect(text.hasSuffix("\r\n\r\n--bx--\r\n"))
        let again = try MIMEMultipart(body, contentType: try #require(MediaType(type.description)))
        #expect(again.parts.map(\.body) == [Array("x --b y\r\n".utf8), Array("\r\n".utf8)])
        #expect(again.parts[0].headers.first("content-transfer-encoding") == "binary")
        #expect(again.parts[0].contentID == "1@x")
    }

    @Test("nested multiparts open to a bounded depth")
    func nested() throws {
        var inner = MIMEPart(contentType: MediaType("text", "plain"), body: Array("x".utf8))
        for level in 0..<6 {
            let (type, body) = MIMEMultipart(subtype: "mixed", boundary: "b\(level)", parts: [inner]).serialized()
            inner = MIMEPart(contentType: type, body: body)
        }
        let outer = try MIMEMultipart(inner.body, contentType: try #require(inner.contentType))
        #expect(throws: MIMEError.tooLarge) { try outer.leaves(depth: 4) }
        #expect(try outer.leaves(depth: 7).count == 1)
    }

    @Test("what is no multipart is refused")
    func refused() {
        func read(_ type: String, _ body: String) throws(MIMEError) {
            _ = try MIMEMultipart(wire(body), contentType: MediaType(type) ?? MediaType("a", "b"), partLimit: 2)
        }
        #expect(throws: MIMEError.noBoundary) { try read("text/plain;boundary=b", "--b--") }
        #expect(throws: MIMEError.noBoundary) { try read("multipart/mixed", "--b--") }
        #expect(throws: MIMEError.unterminated) { try read("multipart/mixed;boundary=b", "--b\n\nabc") }
        #expect(throws: MIMEError.unterminated) { try read("multipart/mixed;boundary=b", "") }
        #expect(throws: MIMEError.malformedHeaders) { try read("multipart/mixed;boundary=b", "--b\nno colon\n\nabc\n--b--") }
        #expect(throws: MIMEError.tooLarge) { try read("multipart/mixed;boundary=b", "--b\n\n1\n--b\n\n2\n--b\n\n3\n--b--") }
    }
}
