import FederationRouting
import PresenceGateway
import SIPCore
import Testing

/// One user under several names (RFC 3261 19.1.6, RFC 3859, RFC 3860, RFC 3966).
@Suite struct IdentityTests {
    private func bench() -> Bench {
        Bench {
            $0.domains["contoso.com"]?.forms = .init(aliases: ["im.contoso.com"], schemes: [.sips, .pres, .im], numbers: ["+1425555"])
            $0.domains["example.com"]?.forms = .init(aliases: ["pres.example.com"], numbers: ["+44"])
            $0.timing.notifySpacing = .zero
        }
    }

    /// A SUBSCRIBE to any kind of URI.
    private func subscribe(_ bench: Bench, _ watcher: String, to uri: String, via peer: TransportAddress) {
        let text = bench.subscribe("WATCHER", to: "PRESENTITY", via: peer)
        bench.send(
            text.replacingOccurrences(of: "sip:PRESENTITY", with: uri).replacingOccurrences(of: "sip:WATCHER", with: watcher), from: peer)
    }

    private func publish(_ bench: Bench, _ uri: String, basic: String, from: String? = nil, answered status: Int = 200) throws {
        bench.sendPublish(uri, Bench.pidf("bo@example.com", basic: basic), expires: nil, from: from, via: Bench.simple)
        _ = try bench.nextResponse(status, at: Bench.simple)
    }

    @Test(
        "the far side is asked for the one user, and the documents name it as the watcher did",
        arguments: [
            ("tel:+1-425-555-0100", "tel:+1-425-555-0100"),
            ("sip:+14255550100@contoso.com;user=phone", "sip:+14255550100@contoso.com;user=phone"),
            ("im:+14255550100@im.contoso.com", "im:+14255550100@im.contoso.com"),
            ("pres:+14255550100@contoso.com", "pres:+14255550100@contoso.com"),
            ("sip:+1-425-555-0100@im.contoso.com", "sip:+1-425-555-0100@im.contoso.com"),
        ])
    func bridged(asked: String, entity: String) throws {
        let bench = bench()
        subscribe(bench, "sip:ann@example.org", to: asked, via: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let far = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(far.requestURI == "sip:+14255550100@contoso.com")
        #expect(far.headers.to?.uri.description == "sip:+14255550100@contoso.com")
        bench.answer(far, 200, from: Bench.enterprise, headers: [(.expires, "3600")])
        bench.notify(
            far, "active;expires=3600", cSeq: 1, type: "application/msrtc-event-categories+xml",
            body: Bench.categories("+14255550100@contoso.com;user=phone", Bench.state(3_500)), from: Bench.enterprise)
        let notified = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(notified.text.contains("entity=\"\(entity)\""))
        #expect(notified.text.contains("<basic>open</basic>"))
    }

    @Test("what is published under one name is seen under all, each watcher reading its own")
    func hosted() throws {
        let bench = bench()
        let forms = ["sip:bo@example.com", "pres:bo@example.com", "sip:bo@pres.example.com", "sips:bo@PRES.example.com"]
        var accepted = 0
        for form in forms {
            subscribe(bench, "sip:ann@example.org", to: form, via: Bench.simple)
            // Without TLS nobody can be reached over it, but who is at home here can.
            _ = try bench.nextResponse(form.hasPrefix("sips") ? 400 : 200, at: Bench.simple)
            if form.hasPrefix("sips") { continue }
            accepted += 1
            bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        }
        #expect(bench.gateway.counts.presentities == 1)
        try publish(bench, "pres:bo@pres.example.com", basic: "open")
        var entities: Set<String> = []
        for _ in 0..<accepted {
            let notified = try bench.nextRequest(.notify, at: Bench.simple)
            for form in forms where notified.text.contains("entity=\"\(form)\"") { entities.insert(form) }
            #expect(notified.text.contains("<basic>open</basic>"))
            bench.answer(notified, 200, from: Bench.simple)
        }
        #expect(entities == Set(forms.prefix(3)))
        #expect(bench.gateway.counts.presentities == 1)
    }

    @Test("RFC 3903 6: only the presentity itself publishes, by whichever of its names, and nobody else by a name alike")
    func publishers() throws {
        let bench = bench()
        try publish(bench, "tel:+44-20-7183-8750", basic: "open")
        subscribe(bench, "sip:ann@example.org", to: "sip:+442071838750@example.com", via: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let notified = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(notified.text.contains("<basic>open</basic>"))
        bench.answer(notified, 200, from: Bench.simple)
        for other in [
            "sip:+442071838750@example.org", "sip:+442071838751@example.com", "sip:2071838750@example.com", "tel:+44-20-7183-8751",
        ] {
            try publish(bench, "tel:+44-20-7183-8750", basic: "closed", from: other, answered: 403)
        }
        #expect(bench.isQuiet(at: Bench.simple) && bench.gateway.counts.publications == 1)
        try publish(bench, "tel:+44-20-7183-8750", basic: "closed", from: "sip:+44-20-7183-8750@pres.example.com")
        #expect(try bench.nextRequest(.notify, at: Bench.simple).text.contains("<basic>closed</basic>"))
    }

    @Test(
        "RFC 3261 8.2.2.1 what names nobody here is refused",
        arguments: [
            ("im:ann@example.com", 416), ("tel:+33123456789", 404), ("tel:5550100;phone-context=contoso.com", 404),
            ("mailto:a@example.com", 416),
        ])
    func refused(asked: String, status: Int) throws {
        let bench = bench()
        subscribe(bench, "sip:ann@example.org", to: asked, via: Bench.simple)
        _ = try bench.nextResponse(status, at: Bench.simple)
        #expect(bench.gateway.counts.watcherDialogs == 0)
    }

    @Test("RFC 3261 8.2.2.1 without numbers in the configuration tel names nobody")
    func noNumbers() throws {
        let bench = Bench()
        subscribe(bench, "sip:ann@example.org", to: "tel:+14255550100", via: Bench.simple)
        _ = try bench.nextResponse(416, at: Bench.simple)
    }

    @Test("a watcher is one watcher under all its names: the far side hears the canonical one")
    func watcher() throws {
        let bench = Bench { $0.domains["example.org"]?.forms = .init(aliases: ["sub.example.org"]) }
        subscribe(bench, "sip:ann@sub.example.org", to: "sip:bob@contoso.com", via: Bench.simple)
        let accepted = try bench.nextResponse(200, at: Bench.simple)
        #expect(accepted.headers.from?.uri.description == "sip:ann@sub.example.org")
        #expect(try bench.nextRequest(.subscribe, at: Bench.enterprise).headers.from?.uri.description == "sip:ann@example.org")
    }

    @Test("a batch may name one user twice, in two forms: it is watched once")
    func batch() throws {
        let bench = Bench { $0.domains["example.com"]?.forms = .init(aliases: ["pres.example.com"]) }
        let body = Bench.categoryBody.replacingOccurrences(
            of: "<resource uri=\"sip:PRESENTITY\"/>",
            with: "<resource uri=\"sip:bo@pres.example.com\"/><resource uri=\"sip:bo@example.com\"/>")
        bench.send(
            bench.subscribe(
                "ulla@contoso.com", to: "ulla@contoso.com", accept: "application/msrtc-event-categories+xml, application/rlmi+xml",
                extra: "Require: adhoclist, categoryList\r\nSupported: ms-piggyback-first-notify, eventlist\r\n", body: body,
                contentType: "application/msrtc-adrl-categorylist+xml", via: Bench.enterprise), from: Bench.enterprise)
        let accepted = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(accepted.text.contains("uri=\"sip:bo@pres.example.com\""))
        #expect(bench.gateway.counts.presentities == 1)
    }
}
