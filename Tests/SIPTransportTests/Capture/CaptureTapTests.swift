import SIPCore
import SIPTransport
import Testing

@Suite(.timeLimit(.minutes(10))) struct CaptureTapTests {
    @Test("a collector gets a copy of what comes in and of what goes out, over both transports", arguments: [TransportProtocol.udp, .tcp])
    func copies(transport: TransportProtocol) async throws {
        let collector = try PlainSocket(.udp)
        var options = TransportOptions()
        options.capture = CaptureOptions(collector: TransportAddress(.udp, "127.0.0.1", collector.port))
        let echo = try await EchoServer(options: options)
        let client = try PlainSocket(transport == .udp ? .udp : .tcp, peer: echo.port(transport))
        if transport == .udp { client.send(request(), to: echo.port(.udp)) } else { client.send(request()) }
        #expect(try client.receive()?.hasPrefix("SIP/2.0 200") == true)
        let first = try #require(try collector.receive())
        let second = try #require(try collector.receive())
        #expect(first.hasPrefix("HEP3") && first.hasSuffix(request()))
        #expect(second.hasPrefix("HEP3") && second.contains("SIP/2.0 200 OK\r\n"))
        #expect(await echo.server.statistics().counters.captured == 2)
        await echo.server.stop()
    }

    @Test("a collector that is away takes nothing from the traffic") func absentCollector() async throws {
        let gone = try PlainSocket(.udp)
        let port = gone.port
        gone.close()
        var options = TransportOptions()
        options.capture = CaptureOptions(collector: TransportAddress(.udp, "127.0.0.1", port))
        let echo = try await EchoServer(options: options)
        let client = try PlainSocket(.udp)
        for _ in 0..<20 {
            client.send(request(), to: echo.port(.udp))
            #expect(try client.receive()?.hasPrefix("SIP/2.0 200") == true)
        }
        await echo.server.stop()
    }

    @Test("a collector without an address is named when the server starts") func unknownCollector() async throws {
        var options = TransportOptions()
        options.capture = CaptureOptions(collector: TransportAddress(.udp, "nowhere.invalid", 9060))
        let error = await #expect(throws: TransportError.self) { _ = try await EchoServer(options: options) }
        #expect(error?.code == .unresolvableHost)
        #expect(error?.description.hasPrefix("udp:nowhere.invalid:9060: the collector has no address") == true)
    }
}
