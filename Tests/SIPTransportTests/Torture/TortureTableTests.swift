import FederationRouting
import Glibc
import Logging
import PresenceGateway
import PresenceRules
import SIPCore
import SIPTransport
import Testing

/// Messages of RFC 4475 and RFC 5118 from Tests/Torture, each sent to one process for each transport.
///
/// The node hosts example.com, knows no other domain, and takes no calls: a readable INVITE gets 480 or 405.
@Suite(.timeLimit(.minutes(10))) struct TortureTableTests {
    struct Row: CustomTestStringConvertible {
        var name: String
        /// Expected status codes, in order.
        var datagram: [Int]
        var stream: [Int]
        /// Port that receives the response over UDP (RFC 3261 18.2.2): that of sent-by.
        var port = 5060

        init(_ name: String, _ both: Int..., port: Int = 5060) {
            (self.name, datagram, stream, self.port) = (name, both, both, port)
        }

        init(_ name: String, udp: [Int], tcp: [Int]) { (self.name, datagram, stream) = (name, udp, tcp) }

        var testDescription: String { name }
    }

    static let rfc4475: [Row] = [
        // 3.1.1 Valid messages.
        Row("wsinv", 405), Row("intmeth", 501), Row("esc01", 405), Row("escnull", 200), Row("esc02", 501), Row("lwsdisp", 200),
        Row("longreq", 480),
        // A datagram is one message; on a stream the second request is one more.
        Row("dblreq", udp: [200], tcp: [200, 480]),
        Row("semiuri", 200), Row("transports", 200), Row("mpart01", 405),
        // Responses without a request.
        Row("unreason"), Row("noreason"),
        // 3.1.2 Invalid messages.
        Row("badinv01", 400),
        // On a stream, the rest of an incomplete message may still arrive.
        Row("clerr", udp: [400], tcp: []),
        Row("ncl", 400), Row("scalar02", 400), Row("scalarlg"), Row("quotbal", 400, port: 5050), Row("ltgtruri", 400), Row("lwsruri", 400),
        Row("lwsstart", 400), Row("trws", 400), Row("escruri", 480), Row("baddate", 480), Row("regbadct", 400), Row("badaspec", 400),
        Row("baddn", udp: [400], tcp: []), Row("badvers", 505), Row("mismatch01", 400), Row("mismatch02", 400), Row("bigcode"),
        // 3.2 Transaction layer.
        Row("badbranch", 200),
        // 3.3 Application layer.
        Row("insuf", 400), Row("unkscm", 416), Row("novelsc", 416), Row("unksm2", 400), Row("bext01", 420), Row("invut", 480),
        Row("regaut01", 200), Row("multi01", 400), Row("mcl01", 400), Row("bcast"), Row("zeromf", 200), Row("cparam01", 200),
        Row("cparam02", 200), Row("regescrt", 200), Row("sdp01", 480),
        // 3.4 Backward compatibility.
        Row("inv2543", udp: [480], tcp: [400]),
    ]

    static let rfc5118: [Row] = [
        // The registrations have one Call-ID and one CSeq, and over UDP one branch: copies (RFC 3261 17.2.3), or out of order (RFC 3261 10.3).
        Row("ipv6-good", 200), Row("ipv6-bad", 400), Row("port-ambiguous", udp: [200], tcp: [500]),
        Row("port-unambiguous", udp: [200], tcp: [500]),
        Row("via-received-param-with-delim", 481), Row("via-received-param-no-delim", 200), Row("ipv6-in-sdp", 405),
        Row("mult-ip-in-header", 481, port: 6050), Row("mult-ip-in-sdp", 405), Row("ipv4-mapped-ipv6", 480, port: 19_823),
        Row("ipv6-bug-abnf-3-colons", 200), Row("ipv6-correct-abnf-2-colons", 200),
    ]

    @Test("RFC 4475: every message gets the answer that is due, and the process lives", arguments: [TransportProtocol.udp, .tcp])
    func torture(transport: TransportProtocol) async throws {
        try await Self.play(Self.rfc4475, "rfc4475", over: transport, from: 0x2C_4B01)
    }

    @Test("RFC 5118: every message gets the answer that is due, and the process lives", arguments: [TransportProtocol.udp, .tcp])
    func addresses(transport: TransportProtocol) async throws {
        try await Self.play(Self.rfc5118, "rfc5118", over: transport, from: 0x33_1201)
    }

    @Test("every message of the folder stands in its table") func complete() throws {
        for (folder, rows) in [("rfc4475", Self.rfc4475), ("rfc5118", Self.rfc5118)] {
            #expect(Set(rows.map(\.name)) == Set(try Self.names(folder)))
        }
    }

    // MARK: the process and its peer

    /// - Parameter host: Last three octets of the UDP peer's address in 127.0.0.0/8, since its ports are fixed.
    private static func play(_ rows: [Row], _ folder: String, over transport: TransportProtocol, from host: UInt32) async throws {
        let server = try await SIPServer.start(
            listening: [TransportAddress(transport, "127.0.0.1", 0)], logger: .quiet,
            makeEndpoint: { context in
                var configuration = GatewayConfiguration(
                    nodeName: "edge1.example.net", listeners: context.listeners,
                    domains: ["example.com": DomainConfiguration(side: .simple, hosted: true, unruled: .allow), "*": .refused(403)])
                configuration.timing.retryAfter = 5
                return Gateway(configuration: configuration, key: .seeded(1))
            })
        let port = server.listeners[0].port
        for row in rows {
            let bytes = try Self.bytes(folder, row.name)
            let statuses = try await PlainSocket.aside {
                transport == .udp ? try Self.ask(bytes, from: row.port, of: host, at: port) : try Self.ask(bytes, at: port)
            }
            #expect(statuses == (transport == .udp ? row.datagram : row.stream), "\(row.name) over \(transport)")
        }
        await server.stop()
    }

    /// Sends a datagram and then an OPTIONS; its response shows that the datagram was handled.
    private static func ask(_ bytes: [UInt8], from own: Int, of host: UInt32, at port: Int) throws -> [Int] {
        let client = try PlainSocket(.udp, port: own, from: host)
        client.send(bytes, to: port)
        client.send(Array(probe(.udp).utf8), to: port)
        var statuses: [Int] = []
        while let text = try client.receive() {
            if text.contains(probeID) { return statuses }
            statuses += Self.statuses(text)
        }
        return statuses
    }

    /// As above on a stream; the OPTIONS uses another connection, since this one may be closed or wait for more input.
    private static func ask(_ bytes: [UInt8], at port: Int) throws -> [Int] {
        let client = try PlainSocket(.tcp, peer: port)
        client.send(bytes)
        let other = try PlainSocket(.tcp, peer: port)
        other.send(probe(.tcp))
        _ = try other.receive(until: probeID)
        return Self.statuses(client.received())
    }

    private static let probeID = "probe@example.org"

    private static func probe(_ transport: TransportProtocol) -> String {
        "OPTIONS sip:example.com SIP/2.0\r\nVia: SIP/2.0/\(transport.rawValue.uppercased()) probe.example.org;branch=z9hG4bK\(UInt64.random(in: 0 ... .max));rport\r\n"
            + "From: <sip:probe@example.org>;tag=p\r\nTo: <sip:example.com>\r\nCall-ID: \(UInt64.random(in: 0 ... .max)).\(probeID)\r\nCSeq: 1 OPTIONS\r\nMax-Forwards: 70\r\n"
            + "Content-Length: 0\r\n\r\n"
    }

    private static func statuses(_ text: String) -> [Int] {
        text.split(separator: "\r\n").filter { $0.hasPrefix("SIP/2.0 ") }.compactMap { Int($0.dropFirst(8).prefix(3)) }
    }

    // MARK: files

    private static var folder: String {
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/") + "/Torture/"
    }

    private static func bytes(_ part: String, _ name: String) throws -> [UInt8] {
        let path = folder + part + "/" + name + ".sip"
        guard let file = fopen(path, "rb") else { throw SocketFailure(errno) }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes.prefix(count))
    }

    private static func names(_ part: String) throws -> [String] {
        guard let directory = opendir(folder + part) else { throw SocketFailure(errno) }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".sip") { names.append(String(name.dropLast(4))) }
        }
        return names
    }
}
