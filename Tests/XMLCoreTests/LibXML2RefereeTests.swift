import Testing

@testable import XMLCore

/// libxml2 judges this room's parser: the same documents accepted, with the same content.
@Suite struct LibXML2RefereeTests {
    static let samples = [
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <presence xmlns="urn:ietf:params:xml:ns:pidf" xmlns:r="urn:ietf:params:xml:ns:pidf:rpid" entity="sip:a@example.com?x=1&amp;y=2">
          <tuple id='t1'><status><basic>open</basic></status><r:x r:a="1" a="2"/><contact priority="0.8">sip:a@example.com</contact></tuple>
          <!-- comment --><?pi data?><note xml:lang="de">&#xDC;ber &lt;uns&gt; &quot;é&quot; <![CDATA[<b>]]></note>
        </presence>
        """,
        "<a x='1\n2\t3&#10;4'>t\r\nu\rv&amp;w<b/> tail <c> </c></a>",
        "<p:a xmlns:p='urn:p'><p:b xmlns:p='urn:q' p:c='d'/><b xmlns='urn:d'><c xmlns=''/></b></p:a>",
    ]

    /// Texts without white space, as the tree keeps none between tags.
    func squeeze(_ bytes: [UInt8]) -> [UInt8] { bytes.filter { !XMLBytes.isSpace($0) } }

    func agree(_ bytes: [UInt8], _ referee: LibXML2, _ parser: XMLParser) -> String? {
        let theirs = referee.record(bytes)
        var ours: [UInt8]?
        do throws(XMLError) { ours = try parser.parse(bytes).referee() } catch { ours = nil }
        if let theirs, let ours { return squeeze(theirs) == squeeze(ours) ? nil : "content differs" }
        if (theirs == nil) == (ours == nil) { return nil }
        // XML 1.0 2.8 wants a digit behind the point; libxml2 does not.
        if ours == nil, String(decoding: bytes, as: UTF8.self).contains("version=\"1.\"") { return nil }
        return theirs == nil ? "only we accept" : "only libxml2 accepts"
    }

    @Test("samples mean the same", arguments: samples)
    func same(_ text: String) throws {
        let referee = try #require(LibXML2())
        #expect(agree(Array(text.utf8), referee, XMLParser()) == nil)
        #expect(try #require(referee.count(Array(text.utf8))).elements > 0)
    }

    @Test("every truncation and a spread of mutations are judged alike", arguments: samples)
    func mutations(_ text: String) throws {
        let referee = try #require(LibXML2())
        let parser = XMLParser()
        let bytes = Array(text.utf8)
        var disagreements: [String] = []
        func judge(_ mutant: [UInt8]) {
            if let found = agree(mutant, referee, parser), disagreements.count < 5 {
                disagreements.append("\(found): \(String(decoding: mutant, as: UTF8.self))")
            }
        }
        for length in 0..<bytes.count { judge(Array(bytes[..<length])) }
        for index in bytes.indices {
            for replacement in Array("<>&\"'/ =:;#!?-]x1\n\u{1}".utf8) {
                var mutant = bytes
                mutant[index] = replacement
                judge(mutant)
            }
            var shorter = bytes
            shorter.remove(at: index)
            judge(shorter)
        }
        #expect(disagreements.isEmpty, "\(disagreements.joined(separator: "\n---\n"))")
    }
}
