import SIPCore
import Testing

@testable import SIPTransport

struct HEPPacketTests {
    private func packet(_ source: TransportAddress, _ target: TransportAddress, payload: String) -> HEPPacket {
        HEPPacket(
            source: source, target: target, time: Instant(nanosecondsSince1970: 1_700_000_000_123_456_789), agent: 2_001, password: "pw",
            payload: Array(payload.utf8))
    }

    @Test("a packet says its length, both ends, the time, the agent and the message") func octets() {
        let bytes = packet(TransportAddress(.udp, "192.0.2.1", 5060), TransportAddress(.udp, "198.51.100.7", 5080), payload: "OPTIONS")
            .serialized().bytes
        #expect(
            bytes == Array("HEP3".utf8) + [
                0, 114,
                0, 0, 0, 1, 0, 7, 2,
                0, 0, 0, 2, 0, 7, 17,
                0, 0, 0, 3, 0, 10, 192, 0, 2, 1,
                0, 0, 0, 4, 0, 10, 198, 51, 100, 7,
                0, 0, 0, 7, 0, 8, 0x13, 0xC4,
                0, 0, 0, 8, 0, 8, 0x13, 0xD8,
                0, 0, 0, 9, 0, 10, 0x65, 0x53, 0xF1, 0x00,
                0, 0, 0, 10, 0, 10, 0x00, 0x01, 0xE2, 0x40,
                0, 0, 0, 11, 0, 7, 1,
                0, 0, 0, 12, 0, 10, 0, 0, 0x07, 0xD1,
                0, 0, 0, 14, 0, 8, 0x70, 0x77,
            ] + [0, 0, 0, 15, 0, 13] + Array("OPTIONS".utf8))
    }

    @Test("an IPv4 end beside an IPv6 end is written in IPv6, and streams are protocol 6") func mixedFamilies() {
        let bytes = packet(TransportAddress(.tls, "2001:db8::1", 5061), TransportAddress(.tls, "192.0.2.1", 5061), payload: "x")
            .serialized().bytes
        #expect(Array(bytes[6..<13]) == [0, 0, 0, 1, 0, 7, 10])
        #expect(Array(bytes[13..<20]) == [0, 0, 0, 2, 0, 7, 6])
        #expect(Array(bytes[20..<42]) == [0, 0, 0, 5, 0, 22, 0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1])
        #expect(Array(bytes[42..<64]) == [0, 0, 0, 6, 0, 22] + [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 192, 0, 2, 1])
    }

    @Test("a message longer than a datagram is cut to fit, and says so") func cut() {
        let end = TransportAddress(.tcp, "192.0.2.1", 5060)
        let (bytes, isCut) = packet(end, end, payload: String(repeating: "x", count: 100_000)).serialized()
        #expect(isCut)
        #expect(bytes.count == HEPPacket.maximumLength)
        #expect(Int(bytes[4]) << 8 | Int(bytes[5]) == HEPPacket.maximumLength)
        #expect(!packet(end, end, payload: "x").serialized().isCut)
    }
}
