import Testing

@testable import SIPCore

/// Test cases of RFC 4475 under its short names, with other messages.
@Suite struct TortureMessagesTests {
    private func parse(_ text: String) -> Result<SIPMessage, SIPParseError> { SIPParser.parse(wire(text)) }

    private func replaced(_ line: String, by other: String, in text: String = requestText()) -> String {
        let result = text.replacing(line, with: other)
        #expect(result != text)
        return result
    }

    // MARK: 3.1.1 valid

    @Test("RFC 4475 3.1.1.1 wsinv: folding, odd blanks, compact and mixed-case names, empty elements")
    func wsinv() throws {
        let text = """
            PUBLISH sip:vivek@192.0.2.1;unknownparam SIP/2.0
            TO :
             sip:vivek@example.com ;   tag    = 1918181833n
            from   : "A \\"quoted\\\\ name \\\\\\"" <sip:carol@example.com>
              ;
              tag = 98asjd8
            MaX-fOrWaRdS: 0068
            Call-ID: 0ha0isndaksdj@192.0.2.1
            cseq: 0009
              PUBLISH
            Via  : SIP  /   2.0
             /UDP
                192.0.2.2;branch=z9hG4bKkdjuw
            s :
            NewFangledHeader:   continued
             newfangled value
            UnknownHeaderWithUnusualValue: ;;,,;;,;
            Content-Type: application/pidf+xml
            Route:
             <sip:services.example.com;lr;unknownwith=value;unknown-no-value>
            v:  SIP  / 2.0  / TCP     spindle.example.com   ;
              branch  =   z9hG4bK9ikj8  ,
             SIP  /    2.0   / UDP  192.168.255.111   ; branch=
             z9hG4bK30239
            m:"Quoted string \\"\\"" <sip:carol@example.com> ; newparam =
                  newvalue ;
              secondparam ; q = 0.33
            l:4

            body
            """
        let request = try #require(parse(text).request)
        #expect(request.headers.maxForwards == 68)
        #expect(request.headers.cSeq == CSeq(9, .publish))
        #expect(request.headers.toTag == "1918181833n")
        #expect(request.headers.fromTag == "98asjd8")
        #expect(request.headers.from?.displayName == "A \"quoted\\ name \\\"")
        #expect(request.headers.vias.map(\.branch) == ["z9hG4bKkdjuw", "z9hG4bK9ikj8", "z9hG4bK30239"])
        #expect(request.headers.vias.map(\.transportToken) == ["UDP", "TCP", "UDP"])
        #expect(request.headers.first("newfangledheader") == "continued newfangled value")
        #expect(request.headers.first("UnknownHeaderWithUnusualValue") == ";;,,;;,;")
        #expect(request.headers.first(.subject) == "")
        #expect(request.headers.contact?.quality == 330)
        #expect(request.headers.contact?.parameters["newparam"] == "newvalue")
        #expect(request.headers.routes.first?.uri.parameters.contains("unknown-no-value") == true)
        #expect(request.body == Array("body".utf8))
        #expect(SIPParser.parse(request.serialized()).request == request)
    }

    @Test("RFC 4475 3.1.1.2 intmeth: every token character in method and names, escapes in quotes, UTF-8")
    func intmeth() throws {
        let method = "!interesting-Method0123456789_*+`.%indeed'~"
        let text = """
            \(method) sip:1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*:&it+has=1,weird!*pas$wo~d_too.(doesn't-it)@example.com SIP/2.0
            Via: SIP/2.0/TCP host1.example.com;branch=z9hG4bK-.!%66*_+`'~
            To: "BEL:\\\u{7} NUL:\\\u{0} DEL:\\\u{7f}" <sip:1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*@example.com>
            From: token1~` token2'+_ token3*%!.- <sip:mundane@example.com>;fromParam''~+*_!.-%="\u{440}\u{430}\u{431}";tag=_token~1'+`*%!-.
            Call-ID: intmeth.word%ZK-!.*_+'@word`~)(><:\\/"][?}{
            CSeq: 139122385 \(method)
            Max-Forwards: 255
            extensionHeader-!.%*+_`'~: \u{fe}\u{ff}
            Content-Length: 0


            """
        let request = try #require(parse(text).request)
        #expect(request.method.rawValue == method)
        #expect(request.headers.to?.displayName == "BEL:\u{7} NUL:\u{0} DEL:\u{7f}")
        #expect(request.headers.from?.displayName == "token1~` token2'+_ token3*%!.-")
        #expect(request.headers.fromTag == "_token~1'+`*%!-.")
        #expect(request.headers.first("extensionheader-!.%*+_`'~") == "\u{fe}\u{ff}")
        #expect(request.uri.password == "&it+has=1,weird!*pas$wo~d_too.(doesn't-it)")
    }

    @Test("RFC 4475 3.1.1.3 and 3.1.1.4 esc01, escnull: escapes stay as written and name what they name")
    func escapes() throws {
        let text = replaced("To: <sip:alice@example.org>", by: "To: <sip:%75se%72@example.com>;tag=a")
        let request = try #require(
            parse(text.replacing("sip:alice@example.org SIP", with: "sip:sips%3Auser%40example.com@example.net SIP")).request)
        #expect(request.uri.host == "example.net")
        #expect(request.uri.decodedUser == "sips:user@example.com")
        #expect(request.headers.to?.uri.aorKey == "sip:user@example.com")
        let null = try #require(parse(replaced("To: <sip:alice@example.org>", by: "To: sip:null-%00-null@example.com")).request)
        #expect(null.headers.to?.uri.decodedUser == "null-\0-null")
        #expect(null.headers.to?.uri.aorKey == "sip:null-%00-null@example.com")
    }

    @Test("RFC 4475 3.1.1.5 esc02: percent signs in tokens are no escapes")
    func esc02() throws {
        let text = requestText(
            "RE%47IST%45R sip:registrar.example.com SIP/2.0", cSeq: "29344 RE%47IST%45R", extra: "C%6Fntact: <sip:a@example.com>\n")
        let request = try #require(parse(text).request)
        #expect(request.method != .register)
        #expect(request.headers.contact == nil)
    }

    @Test("RFC 4475 3.1.1.6 lwsdisp: no blank needed before the bracket")
    func lwsdisp() throws {
        let request = try #require(parse(replaced("\"Bob\" <sip", by: "caller<sip")).request)
        #expect(request.headers.from?.displayName == "caller")
    }

    @Test("RFC 4475 3.1.1.7 longreq: long values everywhere")
    func longreq() throws {
        let long = String(repeating: "long", count: 500)
        let vias = (0..<34).map { "Via: SIP/2.0/TCP host\($0).example.com;branch=z9hG4bK\($0)\n" }.joined()
        let extra = vias + "Unknown-\(long)Name: unknown-\(long)-value\nContact: \"\(long)\" <sip:\(long)@host.example.com>\n"
        let request = try #require(parse(requestText(extra: extra)).request)
        #expect(request.headers.vias.count == 35)
        #expect(request.headers.contact?.uri.user == long)
    }

    @Test("RFC 4475 3.1.1.8 dblreq: what follows in the datagram is dropped")
    func dblreq() throws {
        let request = try #require(parse(requestText() + requestText()).request)
        #expect(request.body.isEmpty)
    }

    @Test("RFC 4475 3.1.1.9 semiuri: semicolons in the user part")
    func semiuri() throws {
        let request = try #require(
            parse(requestText("OPTIONS sip:user;par=u%40example.net@example.com SIP/2.0", cSeq: "8 OPTIONS")).request)
        #expect(request.uri.user == "user;par=u%40example.net")
        #expect(request.uri.decodedUser == "user;par=u@example.net")
        #expect(request.uri.parameters.isEmpty)
    }

    @Test("RFC 4475 3.1.1.10 transports: known, unknown and future transports in Via")
    func transports() throws {
        let extra = ["UDP", "SCTP", "TLS", "UNKNOWN", "TCP"].map { "Via: SIP/2.0/\($0) t.example.com;branch=z9hG4bK\($0)\n" }.joined()
        let request = try #require(parse(requestText(extra: extra)).request)
        #expect(request.headers.vias.map(\.transport) == [.udp, .udp, nil, .tls, nil, .tcp])
    }

    @Test("RFC 4475 3.1.1.11 mpart01: a multipart body with binary parts")
    func mpart01() throws {
        let body =
            "--7a9cbec02ceef655\nContent-Type: text/plain\nContent-Transfer-Encoding: binary\n\nHello\n--7a9cbec02ceef655\nContent-Type: application/octet-stream\n\n\u{1}\u{0}\u{2}\n--7a9cbec02ceef655--\n"
        let type = "Content-Type: multipart/mixed;boundary=7a9cbec02ceef655\n"
        var text = requestText("MESSAGE sip:kumiko@example.org SIP/2.0", cSeq: "127 MESSAGE", extra: type)
        text = text.replacing("Content-Length: 0\n", with: "")
        let request = try #require(parse(text + body).request)
        let parts = try MIMEMultipart(request.body, contentType: try #require(request.headers.contentType)).parts
        #expect(parts.map(\.body) == [Array("Hello".utf8), [1, 0, 2]])
    }

    @Test("RFC 4475 3.1.1.12 and 3.1.1.13 unreason, noreason: any text and no text")
    func reasons() throws {
        let reason = "= 2**3 * 5**2 \u{43d}\u{43e} \u{441}\u{442}\u{43e}"
        #expect(parse(requestText("SIP/2.0 200 \(reason)")).response?.reason == reason)
        let empty = try #require(parse(requestText("SIP/2.0 100 ")).response)
        #expect(empty.reason == "")
        #expect(String(decoding: empty.serialized(), as: UTF8.self).hasPrefix("SIP/2.0 100 \r\n"))
    }

    // MARK: 3.1.2 invalid

    @Test(
        "RFC 4475 3.1.2 what is malformed is refused with 400 and can be answered",
        arguments: [
            ("ncl", "Content-Length: 0", "Content-Length: -999"),
            ("clerr", "Content-Length: 0", "Content-Length: 9999"),
            ("scalar02 CSeq", "CSeq: 1 SUBSCRIBE", "CSeq: 36893488147419103232 SUBSCRIBE"),
            ("scalar02 Max-Forwards", "Max-Forwards: 70", "Max-Forwards: 300"),
            ("quotbal", "To: <sip:alice@example.org>", "To: \"Mr. J. User <sip:j.user@example.com>"),
            ("ltgtruri", "SUBSCRIBE sip:alice@example.org SIP", "SUBSCRIBE <sip:alice@example.org> SIP"),
            ("lwsruri", "SUBSCRIBE sip:alice@example.org SIP", "SUBSCRIBE sip:alice@example.org; lr SIP"),
            ("lwsstart", "SUBSCRIBE sip:alice@example.org SIP", "SUBSCRIBE  sip:alice@example.org  SIP"),
            ("trws", "SIP/2.0\nVia", "SIP/2.0  \nVia"),
            ("mismatch01", "CSeq: 1 SUBSCRIBE", "CSeq: 1 INVITE"),
            ("baddn", "From: \"Bob\" <sip", "From: Bell, Alexander <sip"),
            ("badaspec", "To: <sip:alice@example.org>", "To: \"W\" < sip:alice@example.org >"),
            ("regbadct", "Content-Length", "Contact: sip:user@example.com?Route=%3Csip:sip.example.com%3E\nContent-Length"),
            ("multi01 Call-ID", "Call-ID: c1", "Call-ID: c2@x\nCall-ID: c1"),
            ("multi01 From", "From:", "From: <sip:x@example.com>\nFrom:"),
            ("multi01 CSeq", "CSeq: 1", "CSeq: 2 SUBSCRIBE\nCSeq: 1"),
            ("mcl01", "Content-Length: 0", "Content-Length: 0\nContent-Length: 5"),
            ("insuf Call-ID", "Call-ID: c1@edge.contoso.com\n", ""),
            ("insuf From", "From: \"Bob\" <sip:bob@contoso.com>;tag=f1\n", ""),
            ("insuf To", "To: <sip:alice@example.org>\n", ""),
            ("NUL", "Max-Forwards: 70", "Subject: a\0b\nMax-Forwards: 70"),
            ("bare CR", "Max-Forwards: 70", "Subject: a\rb\nMax-Forwards: 70"),
            ("no colon", "Max-Forwards: 70", "Nonsense\nMax-Forwards: 70"),
        ])
    func refused(_ name: String, _ line: String, _ other: String) throws {
        let error = try #require(parse(replaced(line, by: other)).failure, "\(name) was read")
        #expect(error.status == .badRequest)
        let response = try #require(error.response(toTag: "t"))
        #expect(response.headers.topVia?.branch == "z9hG4bKabc")
        #expect(!response.reason.isEmpty)
    }

    @Test(
        "RFC 4475 3.1.2.1 and 3.1.2.16 badinv01, badvers: a Via that cannot be read is repeated, and answered where the request came from")
    func badinv01() throws {
        let error = try #require(parse(replaced("5060;branch=z9hG4bKabc;rport", by: "5060;;,;,,")).failure)
        #expect(error.status == .badRequest)
        #expect(error.response(toTag: "t")?.headers.first(.via)?.hasSuffix(";;,;,,") == true)
        let foreign = replaced(
            "Via: SIP/2.0/UDP", by: "Via: SIP/7.0/UDP", in: requestText("OPTIONS sip:a@example.org SIP/7.0", cSeq: "1 OPTIONS"))
        let response = try #require(parse(foreign).failure?.response(toTag: "t"))
        #expect(response.status == .versionNotSupported)
        let local = TransportAddress(.udp, "192.0.2.1", 5060)
        let remote = TransportAddress(.udp, "192.0.2.9", 4_000)
        #expect(response.destination(from: MessageSource(local: local, remote: remote)) == .address(remote, from: local))
        let stream = MessageSource(
            local: TransportAddress(.tcp, "192.0.2.1", 5060), remote: TransportAddress(.tcp, "192.0.2.9", 4_000),
            connection: ConnectionID(rawValue: 4))
        #expect(response.destination(from: stream) == .connection(ConnectionID(rawValue: 4), fallback: nil))
    }

    @Test("RFC 4475 3.1.2.5 and 3.1.2.19 scalarlg, bigcode: a bad response is dropped")
    func badResponses() {
        #expect(parse(requestText("SIP/2.0 4294967301 better not break the receiver")).failure?.request == nil)
        #expect(parse(requestText("SIP/2.0 503 X", cSeq: "9292394834772304023312 SUBSCRIBE")).failure?.request == nil)
    }

    @Test("RFC 4475 3.1.2.16 badvers: another version is 505")
    func badvers() {
        #expect(parse(requestText("SUBSCRIBE sip:a@example.org SIP/7.0")).failure?.status == .versionNotSupported)
    }

    @Test("RFC 4475 3.1.2.10, 3.1.2.12 and 3.3.2 to 3.3.8: what is for the user to judge is read")
    func userJudges() throws {
        // baddate, regescrt, unkscm, novelsc, unksm2, bext01, invut, regaut01.
        #expect(parse(requestText(extra: "Date: Fri, 01 Jan 2010 16:00:00 EST\n")).request != nil)
        #expect(
            parse(requestText(extra: "Contact: <sip:user@example.com?Route=%3Csip:sip.example.com%3E>\n")).request?.headers.contact?.uri
                .headers != nil)
        #expect(
            parse(requestText("SUBSCRIBE nobodyKnowsThisScheme:totallyopaquecontent SIP/2.0")).request?.uri.opaque == "totallyopaquecontent"
        )
        #expect(parse(requestText("SUBSCRIBE soap.beep://192.0.2.103:3002 SIP/2.0")).request?.uri.scheme.rawValue == "soap.beep")
        #expect(
            parse(replaced("To: <sip:alice@example.org>", by: "To: isbn:2983792873")).request?.headers.to?.uri.scheme.rawValue == "isbn")
        #expect(parse(requestText(extra: "Require: nothingSupportsThis, nothingSupportsThisEither\n")).request?.headers.require.count == 2)
        #expect(
            parse(requestText(extra: "Authorization: NoOneKnowsThisScheme opaque-data=here\n")).request?.headers.list(.authorization).count
                == 1)
    }

    @Test("RFC 4475 3.2.1 badbranch: the bare cookie identifies nothing")
    func badbranch() throws {
        let request = try #require(parse(replaced("z9hG4bKabc", by: "z9hG4bK")).request)
        #expect(request.headers.topVia?.hasCookie == false)
    }

    @Test("RFC 4475 3.3.14 and 3.4.1 cparam, inv2543: parameters of both kinds, and a request of the old standard")
    func old() throws {
        let request = try #require(parse(requestText(extra: "Contact: sip:+19725552222@gw1.example.net;unknownparam\n")).request)
        #expect(request.headers.contact?.uri.parameters.isEmpty == true)
        #expect(request.headers.contact?.parameters.contains("unknownparam") == true)
        let text =
            "INVITE sip:UserB@example.com SIP/2.0\nVia: SIP/2.0/UDP iftgw.example.com\nFrom: <sip:+1@i.example.com;user=phone>\nTo: sip:+1@s.example.com;user=phone\nCall-ID: 179\nCSeq: 56 INVITE\n\n"
        let old = try #require(parse(text).request)
        #expect(old.headers.fromTag == nil)
        #expect(old.headers.to?.parameters["user"] == "phone")
    }
}

/// Test cases of RFC 5118 (IPv6), with other messages.
@Suite struct TortureIPv6Tests {
    private func request(_ text: String) -> SIPRequest? { SIPParser.parse(wire(text)).request }

    @Test("RFC 5118 4.1 and 4.2 a reference needs its brackets in a URI")
    func brackets() {
        #expect(request(requestText("SUBSCRIBE sip:[2001:db8::10] SIP/2.0"))?.uri.host == "2001:db8::10")
        #expect(SIPParser.parse(wire(requestText("SUBSCRIBE sip:2001:db8::10 SIP/2.0"))).failure?.status == .badRequest)
    }

    @Test("RFC 5118 4.3 and 4.4 the port is what stands after the bracket")
    func port() {
        let outside = request(requestText("SUBSCRIBE sip:[2001:db8::10]:5070 SIP/2.0"))?.uri
        #expect(outside?.port == 5070)
        let inside = request(requestText("SUBSCRIBE sip:[2001:db8::10:5070] SIP/2.0"))?.uri
        #expect(inside?.port == nil && inside?.host == "2001:db8::10:5070")
    }

    @Test("RFC 5118 4.5 received is read with and without brackets")
    func received() {
        for value in ["[2001:db8::9:255]", "2001:db8::9:255"] {
            let text = requestText().replacing("SIP/2.0/UDP edge.contoso.com:5060", with: "SIP/2.0/UDP [2001:db8::9:1];received=\(value)")
            #expect(request(text)?.headers.topVia?.received == "2001:db8::9:255")
            #expect(request(text)?.headers.topVia?.branch == "z9hG4bKabc")
        }
    }

    @Test("RFC 5118 4.8 several references in one header, 4.10 IPv4 inside IPv6")
    func several() {
        let extra =
            "Via: SIP/2.0/UDP [2001:db8::9:1]:6060;branch=z9hG4bK1, SIP/2.0/TCP 192.0.2.1;branch=z9hG4bK2\nContact: <sip:a@[::ffff:192.0.2.10]>\n"
        let headers = request(requestText(extra: extra))?.headers
        #expect(headers?.vias.map(\.sentByHost) == ["edge.contoso.com", "2001:db8::9:1", "192.0.2.1"])
        #expect(headers?.contact?.uri.host == "::ffff:192.0.2.10")
        #expect(headers?.contact?.uri.description == "sip:a@[::ffff:192.0.2.10]")
    }

    @Test("the answer's route keeps an IPv6 source")
    func answer() throws {
        let local = TransportAddress(.udp, "2001:db8::1", 5060)
        let source = MessageSource(local: local, remote: TransportAddress(.udp, "2001:db8::9", 4000))
        var message = try #require(request(requestText()))
        message.noteReception(from: source)
        let response = SIPResponse(to: message, status: .ok, toTag: "t")
        #expect(response.destination(from: source) == .address(TransportAddress(.udp, "2001:db8::9", 4000), from: local))
        let again = try #require(SIPParser.parse(response.serialized()).response)
        #expect(again.headers.topVia?.received == "2001:db8::9")
    }
}
