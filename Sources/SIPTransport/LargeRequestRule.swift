import NIOCore
import SIPCore

/// Sends requests that may exceed the path's MTU over TCP instead of UDP, with `TCP` in their topmost Via, and falls back to UDP when the
/// peer refuses TCP (RFC 3261 18.1.1).
struct LargeRequestRule {
    private let largest: Int?
    private let datagramOnly: Set<TransportAddress>
    private let memory: TimeAmount
    /// Peers that refused TCP, each with the time until which UDP is used.
    private var refusals: [TransportAddress: NIODeadline] = [:]
    private let limit = 4_096

    init(options: TransportOptions) {
        largest = options.largestDatagramRequest
        datagramOnly = options.datagramOnlyPeers
        memory = options.datagramFallbackMemory.amount
    }

    /// Whether a message is longer than the limit for UDP; responses are not exempt here.
    func isLarge(_ message: OutboundMessage) -> Bool { largest.map { message.bytes.count > $0 } ?? false }

    /// Returns the request with its Via changed to TCP; nil when it stays on UDP. Responses always stay: they follow their request (RFC
    /// 3261 18.2.2).
    func moved(_ message: OutboundMessage, to address: TransportAddress, at now: NIODeadline) -> [UInt8]? {
        guard isLarge(message), !datagramOnly.contains(address) else { return nil }
        if let until = refusals[address], now < until { return nil }
        return Self.withViaOverTCP(message.bytes)
    }

    /// Records that the peer refused TCP; returns true when that was not known already.
    mutating func refused(_ address: TransportAddress, at now: NIODeadline) -> Bool {
        if refusals.count >= limit { refusals = refusals.filter { now < $0.value } }
        if refusals.count >= limit { refusals.removeAll() }
        let isNews = refusals[address].map { $0 <= now } ?? true
        refusals[address] = now + memory
        return isNews
    }

    /// Replaces `UDP` in the topmost Via by `TCP`; nil for a response, or when that Via has another transport.
    static func withViaOverTCP(_ bytes: [UInt8]) -> [UInt8]? {
        if bytes.starts(with: Array("SIP/2.0 ".utf8)) { return nil }
        guard let range = topmostViaTransport(bytes), bytes[range].map({ $0 | 0x20 }) == Array("udp".utf8) else { return nil }
        var moved = bytes
        moved.replaceSubrange(range, with: Array("TCP".utf8))
        return moved
    }

    /// Range of the transport token in the first Via: after the second slash of `SIP/2.0/UDP`.
    private static func topmostViaTransport(_ bytes: [UInt8]) -> Range<Int>? {
        var line = bytes.startIndex
        while line < bytes.endIndex {
            let end = bytes[line...].firstIndex(of: 10) ?? bytes.endIndex
            let text = bytes[line..<end]
            guard text.contains(where: { $0 != 13 }) else { return nil }
            if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
                let name = text[..<colon].filter { $0 != 32 && $0 != 9 }.map { $0 | 0x20 }
                if name == Array("via".utf8) || name == [UInt8(ascii: "v")] {
                    var slashes = 0
                    var at = colon
                    while at < end, slashes < 2 {
                        if bytes[at] == UInt8(ascii: "/") { slashes += 1 }
                        at += 1
                    }
                    while at < end, bytes[at] == 32 || bytes[at] == 9 { at += 1 }
                    let start = at
                    while at < end, bytes[at] != 32, bytes[at] != 9, bytes[at] != 13 { at += 1 }
                    return slashes == 2 && start < at ? start..<at : nil
                }
            }
            line = end + 1
        }
        return nil
    }
}
