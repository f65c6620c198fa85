import SIPCore
import Testing

@testable import SIPTransport

@Suite struct MessageRingTests {
    static let remote = TransportAddress(.udp, "127.0.0.1", 5_070)
    static let local = TransportAddress(.udp, "127.0.0.1", 5_060)
    static let start = Instant(nanosecondsSince1970: 0)

    static func ring(octets: Int, after number: UInt64 = 0, messages: Int, of size: Int) -> MessageRing {
        var ring = MessageRing(octets: octets, after: number, at: start)
        for index in 0..<messages {
            ring.add([UInt8](repeating: UInt8(index % 256), count: size), isReceived: true, remote: remote, local: local, at: start)
        }
        return ring
    }

    @Test("the newest messages are held within the limit of octets, however many passed", arguments: [1, 10, 1_000, 10_000])
    func limit(count: Int) {
        var ring = Self.ring(octets: 10 * (72 + 128), messages: count, of: 72)
        let held = ring.read(after: 0, at: Self.start)
        #expect(held.map(\.number) == (max(1, count - 9)...count).map { UInt64($0) })
        #expect(held.allSatisfy { $0.bytes == [UInt8](repeating: UInt8((Int($0.number) - 1) % 256), count: 72) })
    }

    @Test("a reader gets each message once; one that is too long is left out, and does not drop the others") func reading() {
        var ring = Self.ring(octets: 4_000, after: 6, messages: 3, of: 100)
        #expect(ring.read(after: 0, at: Self.start).map(\.number) == [7, 8, 9])
        ring.add([UInt8](repeating: 0, count: 5_000), isReceived: false, remote: Self.remote, local: Self.local, at: Self.start)
        ring.add([1], isReceived: false, remote: Self.remote, local: Self.local, at: Self.start)
        #expect(ring.read(after: 9, at: Self.start).map(\.number) == [11])
        #expect(ring.read(after: 11, at: Self.start).isEmpty)
        #expect(ring.number == 11)
    }
}
