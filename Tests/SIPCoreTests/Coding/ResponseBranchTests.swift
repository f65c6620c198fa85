import Testing

@testable import SIPCore

/// The branch of a response, read without the rest, must be that of the parsed response.
@Suite struct ResponseBranchTests {
    private func response(_ via: String, line: String = "SIP/2.0 200 OK") -> [UInt8] {
        wire("\(line)\nServer: example\n\(via)\nFrom: <sip:a@example.org>;tag=1\nTo: <sip:b@example.com>;tag=2\n")
            + wire("Call-ID: c1\nCSeq: 1 NOTIFY\nContent-Length: 0\n\n")
    }

    @Test(
        "the branch of the first Via value is found, in each spelling of the field",
        arguments: [
            "Via: SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bKs01.5;rport=5060;received=192.0.2.1",
            "v : sip / 2.0 / tcp 192.0.2.1 ; x=\"a;branch=b\" ; BRANCH = z9hG4bKs01.5 , SIP/2.0/TCP 192.0.2.9;branch=z9hG4bKother",
            "VIA: SIP/2.0/TLS [2001:db8::1];branch=z9hG4bKs01.5;branch=z9hG4bKother\nVia: SIP/2.0/TCP 192.0.2.9;branch=z9hG4bKother",
        ])
    func found(via: String) throws {
        let bytes = response(via)
        #expect(SIPParser.branch(ofResponse: bytes) == "z9hG4bKs01.5")
        #expect(try #require(SIPParser.parse(bytes).response).headers.topVia?.branch == "z9hG4bKs01.5")
    }

    @Test(
        "a branch that only the parser reads is not found",
        arguments: [
            "Via: SIP/2.0/UDP 192.0.2.1;branch=\"z9hG4bKs01.5\"",
            "Via: SIP/2.0/UDP 192.0.2.1\n ;branch=z9hG4bKs01.5",
            "Via: SIP/2.0/UDP 192.0.2.1;branch;branch=z9hG4bKs01.5",
            "Via: SIP/2.0/UDP 192.0.2.1;rport",
            "Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKs01.5 tail",
            "Via: 192.0.2.1;branch=z9hG4bKs01.5",
            "no field\nVia: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKs01.5",
            "Subject: none",
        ])
    func unread(via: String) {
        #expect(SIPParser.branch(ofResponse: response(via)) == nil)
    }

    @Test("a request has none, nor has a message that begins in another way")
    func others() {
        let via = "Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKs01.5"
        for line in ["NOTIFY sip:a@example.org SIP/2.0", "sip/2.0 200 OK", "\nSIP/2.0 200 OK"] {
            #expect(SIPParser.branch(ofResponse: response(via, line: line)) == nil)
        }
        #expect(SIPParser.branch(ofResponse: []) == nil)
        #expect(SIPParser.branch(ofResponse: Array("SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP a;branch=b".utf8)) == nil)
    }

    @Test("of changed responses, those that can be parsed have the branch that was found")
    func mutation() {
        var random = TokenGenerator(seed: 3261)
        let seed = response("Via: SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bKs01.5;rport=5060")
        var compared = 0
        for _ in 0..<4000 {
            var bytes = seed
            for _ in 0..<(1 + random.number(below: 3)) {
                let index = 16 + Int(random.number(below: 90))
                switch random.number(below: 3) {
                case 0: bytes[index] = Array("\r\n :;,=\"<bB\\".utf8)[Int(random.number(below: 12))]
                case 1: bytes.remove(at: index)
                default: bytes.insert(Array("\r\n :;,=\"<bB\\".utf8)[Int(random.number(below: 12))], at: index)
                }
            }
            guard let branch = SIPParser.branch(ofResponse: bytes), let parsed = SIPParser.parse(bytes).response else { continue }
            #expect(parsed.headers.topVia?.branch == branch)
            compared += 1
        }
        #expect(compared > 500)
    }
}
