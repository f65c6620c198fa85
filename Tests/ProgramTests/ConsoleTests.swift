import Administration
import Foundation
import FoundationNetworking
import PresenceGateway
import SIPCore
import SIPTransport
import Testing

@testable import GatewayService
@testable import isthmus

/// The console of the administration listener.
@Suite(.timeLimit(.minutes(10))) struct ConsoleTests {
    // MARK: parts

    @Test("text in a page is escaped, in content and in attribute values; control characters are replaced") func escapes() {
        let text = "<script>&\"'\u{1}"
        let page: HTML = "<p title=\"\(text)\">\(text)</p>\(HTML.link(text, "/x", [("a", "\"&b")]))"
        let escaped = "&lt;script&gt;&amp;&quot;&#39;\u{FFFD}"
        #expect(page.text == "<p title=\"\(escaped)\">\(escaped)</p><a href=\"/x?a=%22%26b\">\(escaped)</a>")
    }

    @Test(
        "RFC 3261 22: credentials are masked, folded, in any case, and in messages that break off",
        arguments: [
            ("Authorization: Digest username=\"a\",\r\n response=\"secret\"\r\n", "Authorization: Digest ...\n"),
            ("authorization : NTLM qop=\"auth\", gssapi-data=\"secret\"\r\n", "authorization : NTLM ...\n"),
            ("Proxy-Authorization:\r\n\tTLS-DSK secret\r\n", "Proxy-Authorization: ...\n"),
            ("Authentication-Info: rspauth=\"secret\", cnonce=\"c\"\r\n", "Authentication-Info: ...\n"),
            ("Proxy-Authenticate: Digest nonce=\"secret\"", "Proxy-Authenticate: Digest ...\n"),
        ]) func masks(field: String, shown: String)
    {
        let message = "REGISTER sip:a SIP/2.0\r\n\(field)"
        #expect(MaskedMessage.text(Array(message.utf8)) == "REGISTER sip:a SIP/2.0\n\(shown)")
        let whole = message + (field.utf8.last == 10 ? "" : "\r\n") + "Call-ID: 1\r\n\r\nAuthorization: of the body\r\n"
        #expect(
            MaskedMessage.text(Array(whole.utf8))
                == "REGISTER sip:a SIP/2.0\n\(shown)Call-ID: 1\n\nAuthorization: of the body\n")
    }

    static func message(_ call: String, _ number: UInt64, isReceived: Bool, _ line: String, body: String = "") -> PassedMessage {
        let text = """
            \(line)
            Via: SIP/2.0/UDP 127.0.0.1;branch=z9hG4bK1
            From: <sip:bob@contoso.com>;tag=1
            To: <sip:alice@example.org>;tag=2
            Call-ID: \(call)
            CSeq: \(number) NOTIFY
            Subscription-State: active;expires=9
            Content-Length: \(body.utf8.count)

            \(body)
            """
        return PassedMessage(
            number: number, at: Instant(nanosecondsSince1970: Int64(number) * 1_000_000), isReceived: isReceived,
            remote: TransportAddress(.udp, "127.0.0.1", 5_070), local: TransportAddress(.udp, "127.0.0.1", 5_060),
            bytes: Array(text.replacing("\n", with: "\r\n").utf8))
    }

    @Test("a ladder has the messages of both dialogs and no others, and the NOTIFY that another was mapped to") func ladder() throws {
        let messages = [
            Self.message("up", 1, isReceived: true, "NOTIFY sip:gw SIP/2.0", body: "pidf"),
            Self.message("other", 2, isReceived: true, "NOTIFY sip:gw SIP/2.0", body: "pidf"),
            Self.message("up", 3, isReceived: false, "SIP/2.0 200 OK"),
            Self.message("down", 4, isReceived: false, "NOTIFY sip:bob SIP/2.0", body: "categories"),
            Self.message("down", 5, isReceived: true, "SIP/2.0 200 OK"),
        ]
        let ladder = Ladder(messages, ofWatcher: ["down"], upstream: ["up"], node: "gw")
        #expect(ladder.steps.map(\.summary) == ["NOTIFY 1 (active)", "200 (NOTIFY 3)", "NOTIFY 4 (active)", "200 (NOTIFY 5)"])
        #expect(ladder.steps.map(\.pointsRight) == [false, true, false, true])
        #expect(ladder.counterpart(of: 0)?.summary == "NOTIFY 4 (active)")
        #expect(ladder.counterpart(of: 2) == nil)
        #expect(
            ladder.text == """
                time          watcher                     gw
                00:00:00.001  |                            |<------- NOTIFY 1 (active) -|
                00:00:00.003  |                            |- 200 (NOTIFY 3) ---------->|
                00:00:00.004  |<------- NOTIFY 4 (active) -|                            |
                00:00:00.005  |- 200 (NOTIFY 5) ---------->|                            |

                """)
        #expect(Ladder([], ofWatcher: ["down"], upstream: [], node: "gw").text.hasPrefix("no message of these dialogs is held"))
    }

    // MARK: pages

    static let paths = [
        "/", "/console/partners", "/console/presentities", "/console/subscriptions", "/console/why", "/console/live", "/console/mapping",
    ]

    @Test("each page is whole, within its limit, refers to nothing elsewhere, and runs no script but its own") func pages() async throws {
        try await InspectionTests.withGateway { address, _ in
            for path in Self.paths {
                let (status, page) = try await AdministrationClient.get(.init(path: path), from: address)
                #expect(status == 200)
                #expect(page.hasPrefix("<!DOCTYPE html>") && page.hasSuffix("</html>\n"), "\(path)")
                #expect(page.utf8.count < 60_000)
                #expect(!page.contains("://"), "\(path)")
                #expect(page.contains("aria-current=\"page\""))
                #expect(page.ranges(of: "<script").count == (path == "/console/live" ? 1 : 0))
            }
            let style = try await AdministrationClient.get(.init(path: "/console/style.css"), from: address).body
            #expect(!style.contains("url(") && !style.contains("@import"))
        }
    }

    @Test("a presentity leads to its subscriptions, one of them to the reasons, with container, row and document") func why() async throws {
        try await InspectionTests.withGateway { address, _ in
            func get(_ path: String, _ parameters: [(String, String)] = []) async throws -> String {
                try await AdministrationClient.get(
                    AdministrationRequest(path: path, parameters: parameters.map { .init($0.0, $0.1) }), from: address
                ).body
            }
            let list = try await get("/console/presentities", [("state", "published")])
            #expect(list.contains("<a href=\"/console/subscriptions?presentity=sip%3Aalice%40example.org\">sip:alice@example.org</a>"))
            let subscriptions = try await get("/console/subscriptions", [("presentity", "sip:alice@example.org"), ("domain", "")])
            let link = "/console/why?watcher=sip%3Abob%40contoso.com&amp;presentity=sip%3Aalice%40example.org"
            #expect(subscriptions.contains("<a href=\"\(link)\">sip:bob@contoso.com</a>"))
            let page = try await get("/console/why", [("watcher", "sip:bob@contoso.com"), ("presentity", "sip:alice@example.org")])
            for part in [
                "answered here: example.org is configured and hosted here", "exactly what is known now", "rpid-to-availability",
                "&lt;availability&gt;3500&lt;/availability&gt;", "<section class=\"box row\">",
            ] {
                #expect(page.contains(part), "\(part)")
            }
        }
    }

    @Test("what a stranger writes into an address is shown as text, and refused with a clear error") func injection() async throws {
        try await InspectionTests.withGateway { address, _ in
            for path in ["/console/why", "/console/subscriptions", "/console/presentities"] {
                let name = path == "/console/presentities" ? "domain" : "presentity"
                var request = AdministrationRequest(path: path, parameters: [.init(name, "\"><script>alert(1)</script>")])
                if path == "/console/why" { request.parameters.append(.init("watcher", "sip:bob@contoso.com")) }
                let page = try await AdministrationClient.get(request, from: address).body
                #expect(!page.contains("<script"))
                #expect(page.contains("&lt;script&gt;alert(1)"))
            }
            let wrong = AdministrationRequest(path: "/console/partners", parameters: [.init("state", "gone")])
            let answer = try await AdministrationClient.get(wrong, from: address)
            #expect(answer.status == 400)
            #expect(answer.body.contains("state: must be one of up, down, unknown, not &quot;gone&quot;"))
        }
    }

    // MARK: over TCP

    /// Runs a gateway whose listener shows identities over TCP.
    static func withListener(recall: Int = 0, _ body: (Int, RunningGateway) async throws -> Void) async throws {
        let text = RunningGatewayTests.yaml().replacing("admin: {", with: "admin: { inspect: true, recall: \(recall), ")
        let gateway = try await RunningGateway.start(try ConfigurationReader.read(text, file: "x"), logger: RunningGatewayTests.quiet)
        let port = try #require(gateway.addresses.last?.split(separator: ":").last.flatMap { Int($0) })
        try await body(port, gateway)
        await gateway.stop(drain: .seconds(0))
    }

    private static func post(
        _ path: String, _ body: String, _ port: Int, _ fields: [String: String] = [:]
    ) async throws -> (status: Int?, body: String, fields: [AnyHashable: Any]) {
        var request = URLRequest(url: URL(string: "http://127.0.0.1:\(port)\(path)")!)
        request.httpMethod = "POST"
        request.httpBody = Data(body.utf8)
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await URLSession.shared.data(for: request)
        let answer = response as? HTTPURLResponse
        return (answer?.statusCode, String(decoding: data, as: UTF8.self), answer?.allHeaderFields ?? [:])
    }

    @Test("a document that is posted is converted as by isthmus convert, with its report; a flaw is named by line, column and rule")
    func converts() async throws {
        try await Self.withListener { port, _ in
            let answer = try await Self.post("/convert?to=msrtc", RunningGatewayTests.pidf, port)
            #expect(answer.status == 200)
            #expect(answer.body.contains(#""report":{"from":"pidf","to":"msrtc","losses":[],"#))
            #expect(answer.body.contains(#"{"document":"<?xml"#))
            #expect(try await Self.post("/convert?to=pidf", "<x/>", port).body.contains("the root element x is that of no format"))
            #expect(try await Self.post("/convert?to=nothing", RunningGatewayTests.pidf, port).status == 400)
            #expect(try await Self.post("/convert?to=pidf", "<presence", port).body.contains("document: 1:"))
            let long = String(repeating: " ", count: 300_000)
            #expect(try await Self.post("/convert?to=pidf", long, port).status == 413)
            #expect(try await Self.post("/convert?to=pidf", String(repeating: long, count: 4), port).status == 413)
            let form =
                "document=" + (RunningGatewayTests.pidf.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "") + "&from="
            let page = try await Self.post("/console/mapping", form, port)
            #expect(page.status == 200)
            for format in ["categories", "legacy-interop", "msrtc", "xpidf"] {
                #expect(page.body.contains("<section id=\"\(format)\">"), "\(format)")
            }
            #expect(page.body.contains("<p>Nothing is lost.</p>"))
            #expect((page.fields["Content-Security-Policy"] as? String)?.hasPrefix("default-src 'none'") == true)
            // With no-referrer a browser sends the own forms with `Origin: null`, which is refused.
            #expect(page.fields["Referrer-Policy"] as? String == "same-origin")
        }
    }

    @Test("Fetch 3.2: a page of another origin submits nothing, and POST changes nothing over TCP") func foreignPages() async throws {
        try await Self.withListener { port, _ in
            let own = "http://127.0.0.1:\(port)"
            for (fields, status) in [
                ([:], 200), (["Origin": own], 200), (["Origin": own, "Sec-Fetch-Site": "same-origin"], 200),
                (["Origin": "http://example.org"], 403), (["Origin": "null"], 403), (["Sec-Fetch-Site": "cross-site"], 403),
                (["Host": "rebound.example.org"], 403),
            ] {
                let answer = try await Self.post("/convert?to=msrtc", RunningGatewayTests.pidf, port, fields)
                #expect(answer.status == status, "\(fields)")
            }
            for path in ["/partners/close?name=contoso.com", "/", "/console/why", "/explain", "/health"] {
                let answer = try await Self.post(path, "", port)
                #expect(answer.status == 405, "\(path)")
            }
        }
    }

    /// Reads an endless answer over a connection of its own until `isEnough`, or to its end.
    private static func follow(_ port: Int, _ target: String, until isEnough: @escaping @Sendable (String) -> Bool) async throws -> String {
        let collected = Collected()
        let streaming = URLSession(configuration: .ephemeral, delegate: collected, delegateQueue: nil)
        defer { streaming.invalidateAndCancel() }
        streaming.dataTask(with: URL(string: "http://127.0.0.1:\(port)\(target)")!).resume()
        for await text in collected.texts where isEnough(text) { return text }
        return collected.text
    }

    @Test("a page that follows the messages gets what passes from then on, filtered") func live()
        async throws
    {
        try await Self.withListener { port, gateway in
            async let all = Self.follow(port, "/console/live/events") { $0.contains("PUBLISH 1") }
            async let mine = Self.follow(port, "/console/live/events?user=carol@example.org") { $0.contains("PUBLISH 1") }
            // A page sees what passes after it came: publications go on until both have seen one.
            let tcp = gateway.server.listeners[1]
            let publishing = Task {
                while !Task.isCancelled {
                    for user in [RunningGatewayTests.alice, "sip:carol@example.org"] {
                        let status = try await RunningGatewayTests.publish(tcp, as: user)
                        if !Task.isCancelled { #expect(status == 200) }
                    }
                }
            }
            let (every, own) = try await (all, mine)
            publishing.cancel()
            _ = try? await publishing.value
            #expect(every.contains("\"summary\":\"PUBLISH 1\""))
            #expect(own.contains("carol@example.org") && !own.contains("alice@example.org"))
        }
    }

    @Test(
        "with admin.recall the messages of a dialog are drawn that passed before anyone looked, else none of them", arguments: [0, 1 << 20])
    func recall(octets: Int) async throws {
        try await Self.withListener(recall: octets) { port, gateway in
            let (client, events) = try await RunningGatewayTests.watch(gateway.server.listeners[0], expires: 600)
            for await event in events {
                if case .notification = event { break }
            }
            let address = AdministrationAddress.http(host: "127.0.0.1", port: port)
            let ladder: Ladder = try await InspectionTests.get(
                "/ladder", [("watcher", "sip:bob@contoso.com"), ("presentity", RunningGatewayTests.alice)], from: address)
            if octets > 0 {
                #expect(ladder.steps.first?.summary == "SUBSCRIBE 1")
                #expect(ladder.steps.contains { $0.summary == "200 (SUBSCRIBE 1)" && !$0.isReceived })
                #expect(ladder.text.contains("- SUBSCRIBE 1 "))
            } else {
                #expect(ladder.steps.isEmpty)
            }
            await client.stop()
        }
    }

    @Test("at most eight pages follow the messages, and one that is gone makes room") func places() throws {
        let count = StreamCount()
        var places: [StreamPlace] = []
        for _ in 0..<8 { places.append(try StreamPlace(among: count, limit: 8)) }
        #expect(throws: QuestionError(status: 503, text: "8 pages follow the messages already")) {
            _ = try StreamPlace(among: count, limit: 8)
        }
        places.removeLast()
        places.append(try StreamPlace(among: count, limit: 8))
        #expect(throws: QuestionError.self) { _ = try StreamPlace(among: count, limit: 8) }
    }
}

/// Collects the pieces of an endless answer.
private final class Collected: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let lock = NSLock()
    private var octets = Data()
    let texts: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    override init() {
        (texts, continuation) = AsyncStream.makeStream()
    }

    var text: String { lock.withLock { String(decoding: octets, as: UTF8.self) } }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        lock.withLock { octets.append(data) }
        continuation.yield(text)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) { continuation.finish() }
}
