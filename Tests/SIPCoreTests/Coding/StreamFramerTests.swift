import Testing

@testable import SIPCore

@Suite struct StreamFramerTests {
    private func drain(_ framer: inout StreamFramer) -> [StreamFramer.Event] {
        var events: [StreamFramer.Event] = []
        while let event = framer.next() { events.append(event) }
        return events
    }

    @Test("RFC 3261 18.3 messages come out whole however they are cut", arguments: [1, 2, 3, 7, 64, 1000, 100_000])
    func cuts(size: Int) {
        let first = wire(requestText(body: "one"))
        let second = wire("\n" + requestText())
        let third = wire(requestText("SIP/2.0 200 OK", body: String(repeating: "z", count: 500)))
        let stream = first + second + third
        var framer = StreamFramer()
        var messages: [[UInt8]] = []
        var index = 0
        while index < stream.count {
            framer.append(stream[index..<min(index + size, stream.count)])
            for case .message(let bytes) in drain(&framer) { messages.append(bytes) }
            index += size
        }
        #expect(messages == [first, Array(second.dropFirst(2)), third])
        #expect(framer.bufferedCount == 0)
        #expect(!framer.isInsideMessage)
    }

    @Test("between two messages nothing of a large one is held")
    func released() {
        let message = wire(requestText(body: String(repeating: "z", count: 100_000)))
        for rest in [0, 1, 100, 2_000] {
            var framer = StreamFramer()
            framer.append(message + message.prefix(rest))
            #expect(framer.reservedCount >= message.count)
            #expect(drain(&framer) == [.message(message)])
            framer.append(message.dropFirst(rest))
            #expect(drain(&framer).count == 1)
            framer.append(wire("\n"))
            #expect(drain(&framer).count == 1)
            #expect(framer.reservedCount <= 8_192, "\(rest)")
        }
    }

    @Test("RFC 5626 3.5.1 double CRLF is a ping, single CRLF a pong")
    func keepAlive() {
        var framer = StreamFramer()
        framer.append(wire("\n\n"))
        #expect(drain(&framer) == [.ping])
        framer.append(wire("\n"))
        #expect(drain(&framer) == [.pong])
        framer.append(wire("\n"))
        #expect(drain(&framer) == [.ping])
        framer.append([0x0D])
        #expect(drain(&framer) == [])
    }

    @Test("RFC 3261 18.3 missing, repeated, malformed and oversized Content-Length end the stream with an answer")
    func failures() throws {
        for (line, status) in [
            ("", SIPStatus.badRequest), ("Content-Length: 0\nContent-Length: 0\n", .badRequest), ("Content-Length: -1\n", .badRequest),
            ("l: 99999999999999999999\n", .badRequest), ("Content-Length: 2000000\n", .requestEntityTooLarge),
        ] {
            var framer = StreamFramer()
            framer.append(wire(requestText().replacing("Content-Length: 0\n", with: line)))
            let events = drain(&framer)
            guard events.count == 1, case .failure(let error) = events[0] else {
                Issue.record("no failure for \(line)")
                continue
            }
            #expect(error.status == status)
            #expect(error.response(toTag: "t") != nil)
            framer.append(wire(requestText()))
            #expect(drain(&framer) == [])
        }
    }

    @Test("headers without end are refused at the limit")
    func endlessHeaders() {
        var framer = StreamFramer(limits: SIPLimits(headerBytes: 1000))
        var failures = 0
        for _ in 0..<300 {
            framer.append(Array("X: yyyyyyyy\r\n".utf8))
            failures += drain(&framer).count
        }
        #expect(failures == 1)
        #expect(framer.bufferedCount == 0)
    }

    @Test("many messages in one read do not pile up")
    func burst() {
        let message = wire(requestText(body: "abc"))
        var framer = StreamFramer()
        var count = 0
        for _ in 0..<200 {
            framer.append(message + message + message.prefix(100))
            framer.append(message.dropFirst(100))
            count += drain(&framer).count
        }
        #expect(count == 600)
        #expect(framer.bufferedCount == 0)
    }
}
