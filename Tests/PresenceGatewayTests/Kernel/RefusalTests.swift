import PresenceGateway
import SIPCore
import Testing

/// What is refused, with which status, and in whose manner.
@Suite struct RefusalTests {
    func status(_ text: String, at peer: TransportAddress = Bench.simple, _ change: (inout GatewayConfiguration) -> Void = { _ in }) throws
        -> SIPResponse
    {
        let bench = Bench(change)
        bench.send(text, from: peer)
        guard case .response(let response) = try bench.next(at: peer) else { throw Bench.Unexpected() }
        return response
    }

    func subscribe(_ edit: (String) -> String, extra: String = "", body: String = "", contentType: String = "") -> String {
        edit(
            Bench().subscribe(
                "ann@example.org", to: "bob@contoso.com", extra: extra, body: body, contentType: contentType, via: Bench.simple))
    }

    @Test("RFC 6665 4.2.1 an unknown package is 489 with Allow-Events")
    func badEvent() throws {
        let response = try status(subscribe { $0.replacingOccurrences(of: "Event: presence", with: "Event: dialog") })
        #expect(response.status == .badEvent)
        #expect(response.headers.list(.allowEvents).contains("presence"))
        #expect(response.headers.warnings.first?.code == 399)
    }

    @Test("RFC 3856 6.7 no producible type is 406")
    func notAcceptable() throws {
        #expect(try status(subscribe { $0.replacingOccurrences(of: "application/pidf+xml", with: "text/plain") }).status == .notAcceptable)
    }

    @Test("RFC 3261 8.2.2.3 an unknown Require is 420 with Unsupported")
    func badExtension() throws {
        let response = try status(subscribe({ $0 }, extra: "Require: 100rel, eventlist\r\n"))
        #expect(response.status == .badExtension)
        #expect(response.headers.first(.unsupported) == "100rel")
    }

    @Test("RFC 3261 8.2.3 a body of an unknown type is 415 with Accept, which names a type of SIMPLE to a SIMPLE watcher")
    func unsupportedType() throws {
        let response = try status(subscribe({ $0 }, body: "<policy/>", contentType: "application/auth-policy+xml"))
        #expect(response.status == .unsupportedMediaType)
        #expect(response.headers.first(.accept) == "application/resource-lists+xml, application/simple-filter+xml")
    }

    @Test("RFC 3261 21.4.11 a body beyond the limit is 413")
    func tooLarge() throws {
        let response = try status(
            subscribe({ $0 }, body: String(repeating: "x", count: 200), contentType: "text/plain")
        ) { $0.limits.bodyBytes = 100 }
        #expect(response.status == .requestEntityTooLarge)
    }

    @Test("RFC 6665 4.2.1.1 an interval below the minimum is 423 with Min-Expires")
    func tooBrief() throws {
        let response = try status(subscribe { $0.replacingOccurrences(of: "Expires: 3600", with: "Expires: 5") })
        #expect(response.status == .intervalTooBrief)
        #expect(response.headers.minExpires == 60)
    }

    @Test("RFC 3261 8.2.2.1 another scheme is 416, a domain that nobody agreed on 403, a refused one its status [R152, R154]")
    func addresses() throws {
        #expect(
            try status(subscribe { $0.replacingOccurrences(of: "SUBSCRIBE sip:bob@contoso.com", with: "SUBSCRIBE tel:+15550100") }).status
                == .unsupportedURIScheme)
        #expect(
            try status(subscribe { $0.replacingOccurrences(of: "contoso.com", with: "nowhere.example.org.invalid") }).status == .forbidden)
        #expect(try status(subscribe { $0.replacingOccurrences(of: "contoso.com", with: "example.net") }).status == .forbidden)
        #expect(try status(subscribe { $0.replacingOccurrences(of: "ann@example.org", with: "ann@example.net") }).status == .forbidden)
    }

    @Test("RFC 3261 16.3 used-up Max-Forwards is 483, and a loop through this node 482")
    func loops() throws {
        #expect(try status(subscribe { $0.replacingOccurrences(of: "Max-Forwards: 70", with: "Max-Forwards: 0") }).status == .tooManyHops)
        let bench = Bench()
        bench.send(bench.subscribe("ann@example.org", to: "bob@contoso.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        var looped = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        looped.headers.prepend(.via, "SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bKloop")
        bench.send(.request(looped), from: Bench.enterprise)
        var statuses: [Int] = []
        while !bench.isQuiet(at: Bench.enterprise) {
            if case .response(let response) = try bench.next(at: Bench.enterprise) { statuses.append(response.status.rawValue) }
        }
        #expect(statuses == [482])
        #expect(bench.gateway.counts.watcherDialogs == 1)
    }

    @Test("RFC 3261 8.2.1 a method of others is 405 with Allow, an unknown one 501")
    func methods() throws {
        let invite = subscribe { $0.replacingOccurrences(of: "SUBSCRIBE", with: "MESSAGE") }
        #expect(try status(invite).status == .methodNotAllowed)
        #expect(try status(invite).headers.contains(.allow))
        #expect(try status(subscribe { $0.replacingOccurrences(of: "SUBSCRIBE", with: "JUMP") }).status == .notImplemented)
    }

    @Test("RFC 3261 11 OPTIONS tells what this node can do")
    func options() throws {
        let response = try status(subscribe { $0.replacingOccurrences(of: "SUBSCRIBE", with: "OPTIONS") })
        #expect(response.status == .ok)
        for name: SIPHeaderName in [.allow, .allowEvents, .accept, .supported] { #expect(response.headers.contains(name)) }
    }

    @Test("RFC 3261 12.2.2 a request in no dialog is 481 [R171]", arguments: ["SUBSCRIBE", "NOTIFY"])
    func noDialog(method: String) throws {
        let text = subscribe {
            $0.replacingOccurrences(of: "SUBSCRIBE", with: method).replacingOccurrences(
                of: "To: <sip:bob@contoso.com>", with: "To: <sip:bob@contoso.com>;tag=x")
        }
        #expect(try status(text).status == .callOrTransactionDoesNotExist)
    }

    @Test("MS-PRES 3.4.5.3 single category subscriptions that break the rules are 400 with ms-diagnostics")
    func categoryRules() throws {
        for (old, new) in [
            ("<resource uri=\"sip:alice@example.org\"/>", "<resource uri=\"sip:eve@example.org\"/>"),
            ("<resource uri=\"sip:alice@example.org\"/>", "<resource uri=\"sip:alice@example.org\"/><resource uri=\"sip:a@example.org\"/>"),
            ("name=\"subscribe\"", "name=\"unsubscribe\""), ("</batchSub>", "</batchSup>"),
        ] {
            let bench = Bench()
            let text = bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org")
            let parts = text.replacingOccurrences(of: old, with: new)
            let length = parts.split(separator: "\r\n\r\n", maxSplits: 1)[1].utf8.count
            let whole = parts.split(separator: "\r\n").map { $0.hasPrefix("Content-Length") ? "Content-Length: \(length)" : String($0) }
            bench.send(whole.dropLast().joined(separator: "\r\n") + "\r\n\r\n" + (whole.last ?? ""), from: Bench.enterprise)
            let response = try bench.nextResponse(400, at: Bench.enterprise)
            #expect(response.headers.msDiagnostics?.source == "edge1.example.net")
            #expect(bench.gateway.counts.watcherDialogs == 0)
        }
    }

    @Test("limits have defined answers: 503 with Retry-After toward SIMPLE, 413 toward the enterprise")
    func limits() throws {
        let bench = Bench { $0.limits.subscriptionsPerWatcher = 1 }
        for expected in [200, 503] {
            bench.send(bench.subscribe("ann@example.org", to: "alice@example.com", via: Bench.simple), from: Bench.simple)
            let response = try bench.nextResponse(expected, at: Bench.simple)
            if expected == 503 { #expect(response.headers.retryAfter?.seconds == 30) } else { _ = try bench.next(at: Bench.simple) }
        }
        for expected in [200, 413] {
            bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.com"), from: Bench.enterprise)
            _ = try bench.nextResponse(expected, at: Bench.enterprise)
        }
        #expect(bench.gateway.counters.limitsReached == 2)
    }

    @Test("trust headers of a peer change nothing")
    func trustHeaders() throws {
        let bench = Bench()
        bench.send(
            bench.subscribe(
                "ann@example.org", to: "bob@contoso.com", extra: "P-Asserted-Identity: <sip:boss@contoso.com>\r\n", via: Bench.simple),
            from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let upstream = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(upstream.headers.from?.uri.description == "sip:ann@example.org")
        #expect(!upstream.headers.contains(.pAssertedIdentity))
    }

    @Test("garbage is answered or dropped, and the gateway lives on")
    func garbage() throws {
        let bench = Bench()
        for text in ["\r\n\r\n", "hello", "SUBSCRIBE sip:x SIP/9.0\r\n\r\n", String(repeating: "A", count: 70_000)] {
            bench.send(text, from: Bench.simple)
        }
        bench.clear()
        bench.send(bench.subscribe("ann@example.org", to: "alice@example.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
    }
}
