import Logging
import SIPCore
import SIPTransport
import Testing

@Suite(.timeLimit(.minutes(10))) struct SIPServerTests {
    @Test("ports of 0 are picked and reported, in the order of the listeners") func portsAreReported() async throws {
        let echo = try await EchoServer(["tcp", "udp", "udp"])
        #expect(echo.server.listeners.map(\.transport) == [.tcp, .udp, .udp])
        #expect(echo.server.listeners.allSatisfy { $0.host == "127.0.0.1" && $0.port > 0 })
        #expect(Set(echo.server.listeners).count == 3)
        await echo.server.stop()
    }

    @Test("an endpoint is told again and again what the wall clock says") func wallClock() async throws {
        var options = TransportOptions()
        options.wallClockInterval = .milliseconds(20)
        let echo = try await EchoServer(options: options)
        try await echo.wait { $0.wallClocks.count >= 2 }
        let told = try await echo.look { endpoint, _ in endpoint.wallClocks }
        #expect(told[0].now < told[1].now)
        // Assumes that the clock is not set meanwhile.
        #expect(told.allSatisfy { $0.wall - $0.now < .seconds(5) && $0.now - $0.wall < .seconds(5) })
        await echo.server.stop()
    }

    @Test("a datagram is one message and is answered from the listener that it came to") func datagram() async throws {
        let echo = try await EchoServer()
        let client = try PlainSocket(.udp)
        client.send(request(), to: echo.port(.udp))
        #expect(try client.receive()?.hasPrefix("SIP/2.0 200") == true)
        let (local, remote) = try await echo.look { endpoint, _ in (endpoint.received[0].local, endpoint.received[0].remote) }
        #expect(local == echo.server.listeners[0])
        #expect(remote == TransportAddress(.udp, "127.0.0.1", client.port))
        await echo.server.stop()
    }

    @Test("a datagram of 60,000 octets arrives whole") func largeDatagram() async throws {
        let echo = try await EchoServer()
        let client = try PlainSocket(.udp)
        let text = request(body: String(repeating: "x", count: 60_000))
        client.send(text, to: echo.port(.udp))
        _ = try client.receive()
        #expect(try await echo.look { endpoint, _ in endpoint.received[0].bytes.count } == text.utf8.count)
        await echo.server.stop()
    }

    @Test("RFC 3261 18.3 messages are cut from a stream wherever the segments fall") func framing() async throws {
        let echo = try await EchoServer()
        let client = try PlainSocket(.tcp, peer: echo.port(.tcp))
        let text = request(body: "hello") + request("NOTIFY", body: "there")
        for byte in text.utf8 { client.send(String(decoding: [byte], as: UTF8.self)) }
        client.send(text + text)
        _ = try client.receive(until: "SIP/2.0 200", count: 6)
        let bodies = try await echo.look { endpoint, _ in endpoint.received.map { String(decoding: $0.bytes.suffix(5), as: UTF8.self) } }
        #expect(bodies == ["hello", "there", "hello", "there", "hello", "there"])
        await echo.server.stop()
    }

    @Test("RFC 5626 3.5.1 a double CRLF is answered with a CRLF") func keepAlive() async throws {
        let echo = try await EchoServer()
        let client = try PlainSocket(.tcp, peer: echo.port(.tcp))
        client.send("\r\n\r\n")
        #expect(try client.receive() == "\r\n")
        client.send(request())
        #expect(try client.receive()?.hasPrefix("SIP/2.0 200") == true)
        await echo.server.stop()
    }

    @Test("a stream whose Content-Length makes no sense is ended, and the next connection is served") func refusedStream() async throws {
        let echo = try await EchoServer()
        let client = try PlainSocket(.tcp, peer: echo.port(.tcp))
        client.send(request().split(separator: "Content-Length").first! + "Content-Length: -5\r\n\r\n")
        var text = ""
        while let more = try client.receive() { text += more }
        #expect(text.hasPrefix("SIP/2.0 400"))
        let next = try PlainSocket(.tcp, peer: echo.port(.tcp))
        next.send(request())
        #expect(try next.receive()?.hasPrefix("SIP/2.0 200") == true)
        await echo.server.stop()
    }

    @Test("a body beyond the limit ends the connection before it is read") func oversizedBody() async throws {
        var options = TransportOptions()
        options.maximumBodyBytes = 1_000
        let echo = try await EchoServer(options: options)
        let client = try PlainSocket(.tcp, peer: echo.port(.tcp))
        client.send(request().split(separator: "Content-Length").first! + "Content-Length: 100000000\r\n\r\n")
        var text = ""
        while let more = try client.receive() { text += more }
        #expect(text.hasPrefix("SIP/2.0 4"))
        #expect(await echo.server.statistics().counters.framingErrors == 1)
        await echo.server.stop()
    }

    @Test("the timer fires at the deadline that the endpoint names") func timer() async throws {
        let echo = try await EchoServer()
        let deadline = try await echo.look { endpoint, now in
            endpoint.nextDeadline = now + .milliseconds(30)
            return now + .milliseconds(30)
        }
        try await echo.wait { !$0.firings.isEmpty }
        #expect(try await echo.look { endpoint, _ in endpoint.firings[0] >= deadline })
        await echo.server.stop()
    }

    @Test("an earlier deadline replaces a later one") func earlierTimer() async throws {
        let echo = try await EchoServer()
        try await echo.look { endpoint, now in endpoint.nextDeadline = now + .seconds(3_600) }
        try await echo.look { endpoint, now in endpoint.nextDeadline = now + .milliseconds(10) }
        try await echo.wait { !$0.firings.isEmpty }
        await echo.server.stop()
    }

    @Test("an endpoint that is served late hears in the next turn that it is in time again, without anything coming in")
    func lateness() async throws {
        let echo = try await EchoServer()
        let client = try PlainSocket(.udp)
        let reader = TransportAddress(.udp, "127.0.0.1", client.port)
        let local = echo.server.listeners[0]
        try await echo.look { endpoint, now in
            endpoint.latenessReader = .address(reader, from: local)
            endpoint.nextDeadline = now - .seconds(1)
        }
        #expect(try client.receive() == "late")
        #expect(try client.receive() == "in time")
        await echo.server.stop()
    }

    @Test("what waited in the sockets while the loop was busy is read as late, before it counts as in time again")
    func lateWork() async throws {
        let echo = try await EchoServer()
        let first = try PlainSocket(.tcp, peer: echo.port(.tcp))
        let second = try PlainSocket(.tcp, peer: echo.port(.tcp))
        for client in [first, second] {
            client.send(request())
            _ = try client.receive()
        }
        let hold = Hold()
        try await echo.look { endpoint, _ in
            endpoint.events = []
            endpoint.hold = hold
        }
        first.send(request())
        while !hold.isHolding { try await Task.sleep(for: .milliseconds(5)) }
        // The request waits in a socket that the current tick does not read.
        second.send(request())
        try await Task.sleep(for: .milliseconds(300))
        hold.letGo()
        try await echo.wait { $0.events.last == "in time" }
        #expect(try await echo.look { endpoint, _ in endpoint.events } == ["message", "late", "message", "in time"])
        await echo.server.stop()
    }

    @Test("TLS and an address in use are refused by name") func refusals() async throws {
        let taken = try await EchoServer(["tcp"])
        let address = taken.server.listeners[0]
        await #expect(throws: TransportError.self) { try await EchoServer(["tls"]) }
        do {
            _ = try await SIPServer.start(listening: [address], logger: .init(label: "test")) { _ in EchoEndpoint() }
            Issue.record("bound twice")
        } catch let error as TransportError {
            #expect(error.code == .addressInUse)
            #expect(error.description.hasPrefix("\(address): cannot listen"))
        }
        await taken.server.stop()
    }

    @Test("stopping asks the endpoint, and what it says last is still sent") func stopping() async throws {
        let echo = try await EchoServer()
        let client = try PlainSocket(.tcp, peer: echo.port(.tcp))
        client.send(request())
        _ = try client.receive()
        await echo.server.stop(
            drain: .seconds(5),
            asking: { endpoint, _ in
                let endpoint = endpoint as! EchoEndpoint
                endpoint.send("BYE", to: .connection(endpoint.received[0].connection!, fallback: nil))
            })
        #expect(try client.receive() == "BYE")
        #expect(try client.receive() == nil)
    }
}
