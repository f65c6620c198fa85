import Foundation
import Testing

extension RealSockets {
    /// Reasons of refusals as each side receives them: in ms-diagnostics for an enterprise (MS-OCER), in Warning for a SIMPLE domain (RFC
    /// 3261 20.43).
    @Suite struct RefusalKindsInteropTests {
        struct Kind: CustomStringConvertible, Sendable {
            var description: String
            var presentity: String
            var status: Int
            var errorID: Int
            /// Part of the diagnostic text.
            var words: String
            /// Reason that a SIMPLE watcher receives in the NOTIFY after its 200 (RFC 6665 4.4.3); nil when it receives the status.
            var reason: String?
        }

        static let kinds = [
            Kind(
                description: "an unknown domain", presentity: "sip:eve@nowhere.example.net", status: 403, errorID: 4005,
                words: "is not served here"),
            Kind(
                description: "a blocked domain", presentity: "sip:eve@blocked.example.com", status: 403, errorID: 4005,
                words: "is not served here"),
            Kind(
                description: "a user who may not be watched", presentity: "sip:ceo@fabrikam.com", status: 403, errorID: 2004,
                words: "MS-PRES 3.4.5.3: the presentity is not watched"),
            Kind(
                description: "a server that takes no connection", presentity: "sip:eve@fabrikam.com", status: 504, errorID: 1046,
                words: "did not answer", reason: "probation"),
            Kind(
                description: "a domain that is not in the DNS", presentity: "sip:eve@absent.example.org", status: 404, errorID: 1008,
                words: "cannot be located", reason: "noresource"),
            Kind(
                description: "a domain of which no DNS server says anything", presentity: "sip:eve@silent.example.net", status: 504,
                errorID: 1008, words: "cannot be located", reason: "probation"),
        ]

        @Test(
            "RFC 3261 21, MS-PRES 3.4.5.3: each kind of refusal has its status, and its reason in the words of the side that asked [R152, R154]",
            .enabled(if: PeerPrograms.areReady(PeerPrograms.nsd), "peers absent"))
        func refusals() async throws {
            let scratch = try ScratchDirectory("refusals")
            let names = try await Nsd(["example.org": "nobody IN A 127.0.0.1"], in: scratch)
            let dead = try Loopback.freePort()
            let gateway = try await IsthmusProgram(
                in: scratch,
                domains: [
                    "contoso.com: { side: enterprise, route: \"tcp:127.0.0.1:\(dead)\", peers: [ 127.0.0.1 ] }",
                    "example.com: { side: simple, route: \"tcp:127.0.0.1:\(dead)\", peers: [ 127.0.0.1 ] }",
                    "fabrikam.com: { side: enterprise, route: \"tcp:127.0.0.1:\(dead)\", deny: { users: [ ceo@fabrikam.com ] } }",
                    "blocked.example.com: { refuse: 403 }",
                    "absent.example.org: { side: simple, discover: true }",
                    // This DNS server answers REFUSED (RFC 1035 4.1.1).
                    "silent.example.net: { side: simple, discover: true }",
                ], settings: [names.settings])
            for kind in Self.kinds {
                for (watcher, isEnterprise) in [("sip:ulla@contoso.com", true), ("sip:carol@example.com", false)] {
                    let socket = try LoopbackSocket(.stream, port: gateway.port)
                    let reason = isEnterprise ? nil : kind.reason
                    socket.send(Array(Self.poll(kind.presentity, by: watcher, at: socket.port, inCategories: isEnterprise).utf8))
                    let answer = socket.receive(until: reason == nil ? "\r\n\r\n" : "User-Agent: ", atMost: 10_000)
                    let head = "\(kind), asked by \(watcher): \(answer)\n\(gateway.log.suffix(1_500))"
                    if let reason {
                        #expect(answer.hasPrefix("SIP/2.0 200 ") && answer.contains("\r\n\r\nNOTIFY sip:"), "\(head)")
                        #expect(answer.contains("Subscription-State: terminated;reason=\(reason)"), "\(head)")
                        continue
                    }
                    #expect(answer.hasPrefix("SIP/2.0 \(kind.status) "), "\(head)")
                    let lines = answer.components(separatedBy: "\r\n")
                    let diagnostics = lines.first { $0.lowercased().hasPrefix("ms-diagnostics:") }
                    let warning = lines.first { $0.hasPrefix("Warning:") }
                    #expect((diagnostics != nil) == isEnterprise && (warning != nil) == !isEnterprise, "\(head)")
                    if let diagnostics {
                        #expect(diagnostics.dropFirst(15).drop { $0 == " " }.hasPrefix("\(kind.errorID);"), "\(head)")
                        #expect(diagnostics.contains("source=\"edge1.example.net\""), "\(head)")
                    }
                    if let warning { #expect(warning.contains("399 edge1.example.net \""), "\(head)") }
                    #expect((diagnostics ?? warning)?.contains(kind.words) == true, "\(head)")
                }
            }
            #expect(await gateway.stop() == 0)
            await names.stop()
            scratch.remove()
        }

        /// Fetches presence once (RFC 6665 4.4.3); an enterprise requests the state in the 200 (MS-PRES 3.4.5.1.2).
        private static func poll(_ presentity: String, by watcher: String, at port: Int, inCategories: Bool) -> String {
            let mark = UUID().uuidString.prefix(8)
            let list = """
                <batchSub xmlns="http://schemas.microsoft.com/2006/01/sip/batch-subscribe" uri="\(watcher)" name=""><action name="subscribe" \
                id="1"><adhocList><resource uri="\(presentity)"/></adhocList><categoryList \
                xmlns="http://schemas.microsoft.com/2006/09/sip/categorylist"><category name="state"/></categoryList></action></batchSub>
                """
            let body = inCategories ? list : ""
            let more =
                inCategories
                ? "Accept: application/msrtc-event-categories+xml, application/rlmi+xml, multipart/related\r\nSupported: eventlist, "
                    + "ms-piggyback-first-notify\r\nContent-Type: application/msrtc-adrl-categorylist+xml\r\n"
                : "Accept: application/pidf+xml\r\n"
            return "SUBSCRIBE \(presentity) SIP/2.0\r\nVia: SIP/2.0/TCP 127.0.0.1:\(port);branch=z9hG4bK\(mark)\r\nMax-Forwards: 70\r\n"
                + "From: <\(watcher)>;tag=\(mark)\r\nTo: <\(presentity)>\r\nCall-ID: \(mark)\r\nCSeq: 1 SUBSCRIBE\r\n"
                + "Contact: <sip:127.0.0.1:\(port);transport=tcp>\r\nEvent: presence\r\nExpires: 0\r\n\(more)"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }
    }
}
