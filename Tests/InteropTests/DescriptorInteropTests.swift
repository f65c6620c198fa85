import Foundation
import Testing

extension RealSockets {
    /// The program with few file descriptors.
    @Suite struct DescriptorInteropTests {
        private static let domains = ["example.org: { side: simple, hosted: true, unruled: allow }"]

        private static func options(_ transport: String, port: Int, number: Int) -> [UInt8] {
            let lines = [
                "OPTIONS sip:example.org SIP/2.0", "Via: SIP/2.0/\(transport) 127.0.0.1:\(port);branch=z9hG4bKo\(number);rport",
                "Max-Forwards: 70", "From: <sip:carol@example.com>;tag=t\(number)", "To: <sip:example.org>", "Call-ID: o\(number)",
                "CSeq: 1 OPTIONS", "Content-Length: 0", "", "",
            ]
            return Array(lines.joined(separator: "\r\n").utf8)
        }

        /// Whether a request over this socket gets a response.
        private static func isAnswered(_ socket: LoopbackSocket, _ transport: String, number: Int, by port: Int, atMost: Int = 5_000)
            -> Bool
        {
            let bytes = options(transport, port: socket.port, number: number)
            if transport == "UDP" { socket.send(bytes, to: port) } else { socket.send(bytes) }
            return socket.receive(until: "SIP/2.0 200", atMost: atMost).contains("SIP/2.0 200")
        }

        private static func page(_ path: String, at port: Int) throws -> String {
            let socket = try LoopbackSocket(.stream, port: port)
            socket.send(Array("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".utf8))
            var text = ""
            while let bytes = socket.receive() { text += String(decoding: bytes, as: UTF8.self) }
            return text
        }

        private static func value(_ metric: String, in page: String) -> Double? {
            page.split(separator: "\n").first { $0.hasPrefix(metric + " ") }.flatMap { Double($0.dropFirst(metric.count + 1).trimmed) }
        }

        @Test("the soft limit of file descriptors is raised to the hard one at start")
        func raised() async throws {
            let scratch = try ScratchDirectory("raised")
            let gateway = try await IsthmusProgram(in: scratch, domains: Self.domains, limits: "ulimit -S -n 200 && ulimit -H -n 900")
            let limits = try String(contentsOfFile: "/proc/\(gateway.processID)/limits", encoding: .utf8)
            let line = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max open files") })
            #expect(line.split(separator: " ").dropFirst(3).prefix(2) == ["900", "900"], "\(line)")
            #expect(gateway.log.contains("file-descriptors=900"), "\(gateway.log)")
            #expect(await gateway.stop() == 0)
            scratch.remove()
        }

        @Test("at the limit of file descriptors new connections wait, all others are served, the log says so, and it passes")
        func exhausted() async throws {
            let scratch = try ScratchDirectory("descriptors")
            let http = try Loopback.freePort()
            let gateway = try await IsthmusProgram(
                in: scratch, domains: Self.domains, settings: ["admin: { http: \"127.0.0.1:\(http)\" }"], limits: "ulimit -n 128")
            let first = try LoopbackSocket(.stream, port: gateway.port)
            #expect(Self.isAnswered(first, "TCP", number: 1, by: gateway.port))

            var idle: [LoopbackSocket] = []
            for _ in 0..<200 { idle.append(try LoopbackSocket(.stream, port: gateway.port)) }
            #expect(await eventually(within: 20) { gateway.log.contains("new connections wait: too few file descriptors") })

            let late = try LoopbackSocket(.stream, port: gateway.port)
            #expect(!Self.isAnswered(late, "TCP", number: 2, by: gateway.port, atMost: 500), "it waits in the kernel's queue")
            #expect(Self.isAnswered(first, "TCP", number: 3, by: gateway.port))
            #expect(Self.isAnswered(try LoopbackSocket(.datagram, port: 0), "UDP", number: 4, by: gateway.port))
            #expect(try Self.page("/health", at: http).contains("\"status\":\"ok\""))
            let metrics = try Self.page("/metrics", at: http)
            #expect(Self.value("isthmus_transport_accepts_paused_total", in: metrics) ?? 0 >= 1, "\(metrics)")
            #expect(Self.value("isthmus_file_descriptor_limit", in: metrics) == 128)

            idle = []
            #expect(late.receive(until: "SIP/2.0 200", atMost: 20_000).contains("SIP/2.0 200"), "\(gateway.log.suffix(2_000))")
            #expect(await gateway.stop() == 0)
            scratch.remove()
        }
    }
}

extension Substring {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespaces) }
}
