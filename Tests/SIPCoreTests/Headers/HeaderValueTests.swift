import Testing

@testable import SIPCore

@Suite struct HeaderValueTests {
    @Test("RFC 3261 20.42 Via with blanks everywhere")
    func via() throws {
        let via = try #require(Via("SIP / 2.0 / UDP first.example.com : 4000 ;ttl=16 ; branch = z9hG4bKa7c ; hidden"))
        #expect(via.transport == .udp)
        #expect(via.sentBy == "first.example.com:4000")
        #expect(via.branch == "z9hG4bKa7c")
        #expect(via.parameters.contains("hidden"))
        #expect(Via(via.description) == via)
        #expect(Via("SIP/2.0/UDP [2001:db8::9:1];received=[2001:db8::9:255];branch=z9hG4bKas3")?.received == "2001:db8::9:255")
        #expect(Via("SIP/2.0/UDP [2001:db8::9:1];received=2001:db8::9:255")?.received == "2001:db8::9:255")
        #expect(Via("SIP/2.0/UDP a.example.com;branch=z9hG4bK")?.hasCookie == false)
        for bad in ["SIP/2.0/UDP", "SIP/2.0/UDP ;;,;,,", "SIP/3.0/UDP a", "SIP/2.0/UDP a:99999", "SIP/2.0/UDPa", "HTTP/2.0/UDP a"] {
            #expect(Via(bad) == nil)
        }
    }

    @Test("RFC 3261 20.10 name-addr and addr-spec")
    func nameAddr() throws {
        let quoted = try #require(NameAddr("\"A \\\"B\\\" \\\\C\"   <sip:a@example.com;lr>;tag=x;epid=0a"))
        #expect(quoted.displayName == "A \"B\" \\C")
        #expect(quoted.tag == "x")
        #expect(quoted.epid == "0a")
        #expect(quoted.uri.parameters.contains("lr"))
        #expect(NameAddr(quoted.description) == quoted)
        let bare = try #require(NameAddr("sip:a@example.com;tag=x"))
        #expect(bare.tag == "x")
        #expect(bare.uri.parameters.isEmpty)
        #expect(NameAddr("caller<sip:a@example.com>;tag=1")?.displayName == "caller")
        #expect(NameAddr("<sip:a@example.com>;tag=1 ; x = \"y;z\"")?.parameters["x"] == "y;z")
        for bad in [
            "\"open <sip:a@example.com>", "Bell, Alexander <sip:a@example.com>", "<sip:a@example.com", "sip:a@example.com?Route=x",
            "< sip:a@example.com>", "", "<>", "a@b <sip:a@example.com>",
        ] {
            #expect(NameAddr(bad) == nil)
        }
    }

    @Test("RFC 3261 20.16 CSeq below 2^31, any method token")
    func cSeq() {
        #expect(CSeq("0009  INVITE")?.number == 9)
        #expect(CSeq("2147483647 NOTIFY")?.number == 2_147_483_647)
        #expect(CSeq("2147483648 NOTIFY") == nil)
        #expect(CSeq("1NOTIFY") == nil)
        #expect(CSeq("-1 NOTIFY") == nil)
        #expect(CSeq("1 NOTIFY x") == nil)
    }

    @Test("RFC 6665 8.2 Event and Subscription-State")
    func events() throws {
        #expect(Event("presence;id=1")?.matches(Event("presence", parameters: SIPParameters([.init("id", "1")]))) == true)
        #expect(Event("presence;id=1")?.matches(Event("presence")) == false)
        #expect(Event("Presence")?.matches(Event("presence")) == false)
        #expect(Event("presence.winfo")?.package == "presence.winfo")
        let state = try #require(SubscriptionState("Terminated ; reason=NoResource;retry-after=99999999999"))
        #expect(state.state == .terminated)
        #expect(state.reason == .noresource)
        #expect(state.retryAfter == UInt32.max)
        #expect(SubscriptionState.active(expires: 60).description == "active;expires=60")
        #expect(SubscriptionState.terminated(.timeout).description == "terminated;reason=timeout")
        #expect(SubscriptionState("") == nil)
    }

    @Test("RFC 3261 20.1 media types, ranges and qualities")
    func mediaTypes() throws {
        let type = try #require(MediaType("multipart / related;type=\"application/rlmi+xml\";boundary=x"))
        #expect(type.essence == "multipart/related")
        #expect(type.hasEssence("multipart/related"))
        for other in ["multipart/relate", "multipart/relatedx", "multipart", "multipart/", "", "multipartrelated", "xmultipart/related"] {
            #expect(!type.hasEssence(other))
        }
        #expect(type.parameters["type"] == "application/rlmi+xml")
        #expect(try #require(MediaType("text/*")).accepts(MediaType("TEXT", "xml+msrtc.pidf")))
        #expect(try #require(MediaType("*/*")).accepts(type))
        #expect(!MediaType("text", "plain").accepts(type))
        for (text, quality) in [
            ("q=0.5", 500), ("q=1", 1000), ("q=0", 0), ("q=0.123", 123), ("q=.", 1000), ("q=1.000", 1000), ("q=x", 1000),
        ] {
            #expect(MediaType("a/b;\(text)")?.quality == quality)
        }
        #expect(MediaType("text") == nil)
    }

    @Test("RFC 3261 20.33, 20.43, RFC 3326, MS-OCER 2.2.1 reasons of refusals")
    func refusals() throws {
        #expect(RetryAfter("18000;duration=3600")?.seconds == 18_000)
        #expect(RetryAfter("120 (I'm in a (long) meeting)")?.seconds == 120)
        #expect(RetryAfter("soon") == nil)
        let warning = try #require(Warning("399 gw.example.net:5060 \"No \\\"way\\\"\""))
        #expect(warning.text == "No \"way\"")
        #expect(Warning(warning.description) == warning)
        #expect(Reason("SIP;cause=600;text=\"Busy Everywhere\"")?.cause == 600)
        let diagnostics = try #require(MSDiagnostics("1003;reason=\"User does not exist\";source=\"gw.example.net\""))
        #expect(diagnostics.errorID == 1003)
        #expect(diagnostics.description == "1003;reason=\"User does not exist\";source=\"gw.example.net\"")
        #expect(MSDiagnostics(1, reason: "a\"b", source: "s").description == "1;reason=\"a\\\"b\";source=\"s\"")
    }

    @Test("RFC 3261 20.19 delta-seconds never overflow")
    func deltaSeconds() {
        #expect(DeltaSeconds.parse("3600") == 3600)
        #expect(DeltaSeconds.parse(" 007 ") == 7)
        #expect(DeltaSeconds.parse("4294967296") == UInt32.max)
        #expect(DeltaSeconds.parse(String(repeating: "9", count: 500)) == UInt32.max)
        #expect(DeltaSeconds.parse("-1") == nil)
        #expect(DeltaSeconds.parse("") == nil)
        #expect(DeltaSeconds.parse("1x") == nil)
    }

    @Test("typed accessors write what they read")
    func accessors() {
        var headers = SIPHeaders()
        headers.from = NameAddr(SIPURI(user: "a", host: "example.com"), displayName: "A, B", parameters: SIPParameters([.init("tag", "t")]))
        headers.expires = 0
        headers.maxForwards = 70
        headers.msPiggybackCSeq = 4
        headers.accept = [MediaType("a", "b"), MediaType("c", "d")]
        headers.routes = [NameAddr(SIPURI(host: "p1", parameters: SIPParameters([.init("lr")]))), NameAddr(SIPURI(host: "p2"))]
        #expect(headers.from?.displayName == "A, B")
        #expect(headers.fromTag == "t")
        #expect(headers.expires == 0)
        #expect(headers.accept.count == 2)
        #expect(headers.values(.route) == ["<sip:p1;lr>", "<sip:p2>"])
        headers.append(.pAssertedIdentity, "<sip:a@example.com>, <tel:+12015550123>")
        #expect(headers.assertedIdentities.map(\.uri.aorKey) == ["sip:a@example.com", "tel:+12015550123"])
        headers.append("MS-Source-Network", "federation")
        headers.removeTrustHeaders()
        #expect(headers.assertedIdentities.isEmpty && !headers.contains(.msSourceNetwork))
        headers.append(.require, "eventlist")
        #expect(headers.offers("EventList"))
    }
}
