import Foundation
import Testing

extension RealSockets {
    /// Malformed input gets the status of its section over real sockets, and the process survives.
    @Suite struct MalformedInputInteropTests {
        private static let user = "sip:dave@contoso.com"

        private func request(
            _ method: String, to uri: String = user, number: Int = 1, headers: [String] = [], body: [UInt8] = [], length: String? = nil,
            via: String, callID: String
        ) -> [UInt8] {
            let lines =
                [
                    "\(method) \(uri) SIP/2.0", "Via: SIP/2.0/\(via);branch=z9hG4bK\(callID);rport", "Max-Forwards: 70",
                    "From: <\(method == "SERVICE" || method == "PUBLISH" ? uri : "sip:carol@contoso.com")>;tag=t\(callID)", "To: <\(uri)>",
                    "Call-ID: \(callID)",
                    "CSeq: \(number) \(method)",
                    "Contact: <sip:carol@\(via.split(separator: " ").last ?? "");transport=\(via.prefix(3).lowercased())>",
                ] + headers + ["Content-Length: \(length ?? String(body.count))", "", ""]
            return Array(lines.joined(separator: "\r\n").utf8) + body
        }

        private static let subscription = [
            "Event: presence", "Expires: 600", "Supported: eventlist",
            "Accept: application/msrtc-event-categories+xml, application/rlmi+xml, multipart/related",
            "Content-Type: application/msrtc-adrl-categorylist+xml",
        ]

        private static let batch = """
            <batchSub xmlns="http://schemas.microsoft.com/2006/01/sip/batch-subscribe" uri="sip:carol@contoso.com" name=""><action \
            name="subscribe" id="1"><adhocList><resource uri="\(user)"/></adhocList><categoryList \
            xmlns="http://schemas.microsoft.com/2006/09/sip/categorylist"><category name="state"/></categoryList></action></batchSub>
            """

        private static func laughs() -> String {
            let entities = (1...9).map { "<!ENTITY l\($0) \"\(String(repeating: "&l\($0 - 1);", count: 10))\">" }.joined()
            return "<!DOCTYPE batchSub [<!ENTITY l0 \"lol\">\(entities)]>"
                + batch.replacingOccurrences(of: "name=\"\"", with: "name=\"&l9;\"")
        }

        private static func publication(_ availability: String) -> [UInt8] {
            Array(
                """
                <publish xmlns="http://schemas.microsoft.com/2006/09/sip/rich-presence"><publications uri="\(user)"><publication \
                categoryName="state" instance="1" container="200" version="0" expireType="static"><state \
                xmlns="http://schemas.microsoft.com/2006/09/sip/state" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
                xsi:type="userState"><availability>\(availability)</availability></state></publication></publications></publish>
                """.utf8)
        }

        private static func pidf(_ root: String) -> [UInt8] {
            Array("<presence \(root)><tuple id=\"t\"><status><basic>open</basic></status></tuple></presence>".utf8)
        }

        @Test func malformedRequestsAreAnsweredAndSurvived() async throws {
            let scratch = try ScratchDirectory("malformed")
            let upstream = try LoopbackSocket(.datagram, port: 0)
            let gateway = try await IsthmusProgram(
                in: scratch,
                domains: [
                    "contoso.com: { side: enterprise, hosted: true, network: sameEnterprise, peers: [ 127.0.0.1 ] }",
                    "example.org: { side: simple, route: \"udp:127.0.0.1:\(upstream.port)\" }",
                ])
            let socket = try LoopbackSocket(.datagram, port: 0)
            let via = "UDP 127.0.0.1:\(socket.port)"
            let publish = ["Content-Type: application/msrtc-category-publish+xml"]
            let pidf = ["Event: presence", "Expires: 600", "Content-Type: application/pidf+xml"]
            let namespace = "xmlns=\"urn:ietf:params:xml:ns:pidf\""
            let batch = Array(Self.batch.utf8)

            let cases: [(name: String, bytes: (String) -> [UInt8], statuses: Set<String>)] = [
                (
                    "more Content-Length than datagram",
                    { request("SUBSCRIBE", headers: Self.subscription, body: batch, length: "99999", via: via, callID: $0) }, ["400"]
                ),
                (
                    "negative Content-Length",
                    { request("SUBSCRIBE", headers: Self.subscription, body: batch, length: "-1", via: via, callID: $0) }, ["400"]
                ),
                (
                    "a Content-Length that overflows",
                    { request("SUBSCRIBE", headers: Self.subscription, body: batch, length: "99999999999999999999", via: via, callID: $0) },
                    ["400", "413"]
                ),
                (
                    "truncated XML",
                    { request("SUBSCRIBE", headers: Self.subscription, body: Array(batch.dropLast(40)), via: via, callID: $0) }, ["400"]
                ),
                (
                    "a billion laughs",
                    { request("SUBSCRIBE", headers: Self.subscription, body: Array(Self.laughs().utf8), via: via, callID: $0) }, ["400"]
                ),
                (
                    "invalid UTF-8",
                    {
                        request(
                            "SUBSCRIBE", headers: Self.subscription,
                            body: Array(Self.batch.replacingOccurrences(of: "name=\"\"", with: "name=\"@@\"").utf8).map {
                                $0 == 0x40 ? 0xFF : $0
                            }, via: via, callID: $0)
                    }, ["400"]
                ),
                (
                    "no body where one must be (MS-PRES 3.4.5.3)",
                    { request("SUBSCRIBE", headers: Self.subscription, via: via, callID: $0) },
                    ["400"]
                ),
                (
                    "the wrong namespace",
                    {
                        request(
                            "SUBSCRIBE", headers: Self.subscription,
                            body: Array(Self.batch.replacingOccurrences(of: "batch-subscribe", with: "other").utf8), via: via, callID: $0)
                    }, ["400"]
                ),
                (
                    "an unknown event package (RFC 6665 7.2)", { request("SUBSCRIBE", headers: ["Event: weather"], via: via, callID: $0) },
                    ["489"]
                ),
                ("availability -1", { request("SERVICE", headers: publish, body: Self.publication("-1"), via: via, callID: $0) }, ["400"]),
                (
                    "availability 99999999999",
                    { request("SERVICE", headers: publish, body: Self.publication("99999999999"), via: via, callID: $0) }, ["400"]
                ),
                (
                    "availability 3,5", { request("SERVICE", headers: publish, body: Self.publication("3,5"), via: via, callID: $0) },
                    ["400"]
                ),
                (
                    "PIDF without entity (RFC 3863 4.1.1)",
                    { request("PUBLISH", headers: pidf, body: Self.pidf(namespace), via: via, callID: $0) }, ["400"]
                ),
                (
                    "PIDF in the wrong namespace",
                    {
                        request(
                            "PUBLISH", headers: pidf, body: Self.pidf("xmlns=\"urn:example:other\" entity=\"\(Self.user)\""), via: via,
                            callID: $0)
                    }, ["400", "415"]
                ),
                (
                    "truncated PIDF",
                    {
                        request(
                            "PUBLISH", headers: pidf, body: Array(Self.pidf("\(namespace) entity=\"\(Self.user)\"").dropLast(9)), via: via,
                            callID: $0)
                    }, ["400"]
                ),
                (
                    "an unsupported body (RFC 3903 6)",
                    {
                        request(
                            "PUBLISH", headers: ["Event: presence", "Expires: 600", "Content-Type: text/plain"], body: Array("hello".utf8),
                            via: via, callID: $0)
                    }, ["415"]
                ),
                (
                    "an unknown required extension (RFC 3261 8.2.2.3)",
                    { request("SUBSCRIBE", headers: Self.subscription + ["Require: unheard-of"], body: batch, via: via, callID: $0) },
                    ["420"]
                ),
                ("an unknown method (RFC 3261 8.2.1)", { request("DANCE", via: via, callID: $0) }, ["405", "501"]),
            ]
            for (index, item) in cases.enumerated() {
                let callID = "malformed\(index)"
                socket.send(item.bytes(callID), to: gateway.port)
                let answer = socket.receive(until: callID)
                let status = answer.split(separator: " ").dropFirst().first.map(String.init) ?? "none"
                #expect(item.statuses.contains(status), "\(item.name): \(answer)")
                #expect(gateway.isRunning, "\(item.name): \(gateway.log.suffix(2000))")
            }

            // Noise gets no response and has no effect.
            for noise in [[UInt8](repeating: 0, count: 1500), Array("hello".utf8), [0xFF, 0xFE, 0x0D, 0x0A, 0x0D, 0x0A], []] {
                socket.send(noise, to: gateway.port)
            }
            try subscribesNormally(gateway, "after-datagrams", body: batch)

            // An escaped line break in a URI stays escaped on the upstream side (RFC 3261 25.1).
            let injection = "sip:alice%0d%0aX-Injected:%20yes@example.org"
            socket.send(
                request(
                    "SUBSCRIBE", to: injection, headers: ["Event: presence", "Accept: application/pidf+xml", "Expires: 600"], via: via,
                    callID: "injection"), to: gateway.port)
            if let bytes = upstream.receive(atMost: 3000) {
                let text = String(decoding: bytes, as: UTF8.self)
                #expect(text.hasPrefix("SUBSCRIBE "))
                #expect(!text.lowercased().contains("\r\nx-injected"), "\(text)")
            }
            #expect(gateway.isRunning)

            try streams(gateway)
            try subscribesNormally(gateway, "after-streams", body: batch)
            #expect(await gateway.stop() == 0)
            scratch.remove()
        }

        /// Framing errors end a stream, with a 400 where a response is possible (RFC 3261 18.3).
        private func streams(_ gateway: IsthmusProgram) throws {
            func via(_ socket: LoopbackSocket) -> String { "TCP 127.0.0.1:\(socket.port)" }
            let batch = Array(Self.batch.utf8)
            let conflicting = try LoopbackSocket(.stream, port: gateway.port)
            conflicting.send(
                request(
                    "SUBSCRIBE", headers: Self.subscription + ["Content-Length: 5"], body: batch, via: via(conflicting),
                    callID: "conflicting"))
            #expect(conflicting.receive(until: "\r\n\r\n").hasPrefix("SIP/2.0 400"))

            let missing = try LoopbackSocket(.stream, port: gateway.port)
            let text = String(
                decoding: request("SUBSCRIBE", headers: Self.subscription, body: batch, via: via(missing), callID: "missing"), as: UTF8.self
            )
            missing.send(Array(text.replacingOccurrences(of: "Content-Length: \(batch.count)\r\n", with: "").utf8))
            #expect(missing.receive(until: "\r\n\r\n").hasPrefix("SIP/2.0 400"))

            let huge = try LoopbackSocket(.stream, port: gateway.port)
            huge.send(request("SUBSCRIBE", headers: Self.subscription, length: "104857600", via: via(huge), callID: "huge"))
            for _ in 0..<40 { huge.send([UInt8](repeating: 0x61, count: 65_536)) }
            let answer = huge.receive(until: "\r\n\r\n", atMost: 3000)
            #expect(answer.isEmpty || answer.hasPrefix("SIP/2.0 413") || answer.hasPrefix("SIP/2.0 513") || answer.hasPrefix("SIP/2.0 400"))

            // Two messages in one write, and one message octet by octet.
            let odd = try LoopbackSocket(.stream, port: gateway.port)
            let one = request("OPTIONS", via: via(odd), callID: "pair1")
            odd.send(one + request("OPTIONS", via: via(odd), callID: "pair2"))
            #expect(odd.receive(until: "pair2").contains("pair1"))
            for byte in request("OPTIONS", via: via(odd), callID: "drip") { odd.send([byte]) }
            #expect(odd.receive(until: "drip").contains("SIP/2.0 200"))
            #expect(gateway.isRunning)
        }

        /// Ordinary subscription, to check that the gateway still works.
        private func subscribesNormally(_ gateway: IsthmusProgram, _ callID: String, body: [UInt8]) throws {
            let socket = try LoopbackSocket(.datagram, port: 0)
            let bytes = request(
                "SUBSCRIBE", headers: Self.subscription + ["Supported: ms-piggyback-first-notify"], body: body,
                via: "UDP 127.0.0.1:\(socket.port)", callID: callID)
            socket.send(bytes, to: gateway.port)
            let answer = socket.receive(until: "</categories>")
            #expect(answer.hasPrefix("SIP/2.0 200"), "\(answer)\n\(gateway.log.suffix(2000))")
            #expect(answer.contains("<category"))
        }
    }
}
