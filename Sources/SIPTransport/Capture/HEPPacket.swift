import SIPCore

/// One SIP message in version 3 of the Homer Encapsulation Protocol (HEP3), which sngrep, Homer and heplify read.
///
/// A packet is `HEP3`, its length in two octets, and chunks: vendor, type and length (including these six octets) in two octets each, then
/// the value; all numbers in network byte order. Vendor 0 is the generic one.
struct HEPPacket {
    /// Largest UDP payload over IPv4, in octets.
    static let maximumLength = 65_507

    var source: TransportAddress
    var target: TransportAddress
    var time: Instant
    /// Capture agent id of this node.
    var agent: UInt32
    /// Password for the collector; nil omits the chunk.
    var password: String?
    var payload: [UInt8]

    private enum Chunk: UInt16 {
        case family = 1, transport, sourceIPv4, targetIPv4, sourceIPv6, targetIPv6, sourcePort, targetPort, seconds, microseconds, content
        case agent
        case password = 14, payload
    }

    /// - Returns: The packet, and whether the message was truncated to fit into one datagram.
    func serialized() -> (bytes: [UInt8], isCut: Bool) {
        var bytes = Array("HEP3".utf8) + [0, 0]
        bytes.reserveCapacity(min(payload.count + 160, Self.maximumLength))
        let from = IPAddressOctets(source.host)
        let to = IPAddressOctets(target.host)
        let isIPv6 = from.isIPv6 || to.isIPv6
        append(.family, [isIPv6 ? 10 : 2], to: &bytes)
        append(.transport, [source.transport == .udp ? 17 : 6], to: &bytes)
        append(isIPv6 ? .sourceIPv6 : .sourceIPv4, from.octets(isIPv6: isIPv6), to: &bytes)
        append(isIPv6 ? .targetIPv6 : .targetIPv4, to.octets(isIPv6: isIPv6), to: &bytes)
        append(.sourcePort, Self.octets(UInt16(truncatingIfNeeded: source.port)), to: &bytes)
        append(.targetPort, Self.octets(UInt16(truncatingIfNeeded: target.port)), to: &bytes)
        let nanoseconds = max(time.nanosecondsSince1970, 0)
        append(.seconds, Self.octets(UInt32(truncatingIfNeeded: nanoseconds / 1_000_000_000)), to: &bytes)
        append(.microseconds, Self.octets(UInt32(nanoseconds % 1_000_000_000 / 1_000)), to: &bytes)
        append(.content, [1], to: &bytes)
        append(.agent, Self.octets(agent), to: &bytes)
        if let password { append(.password, Array(password.utf8), to: &bytes) }
        let room = Self.maximumLength - bytes.count - 6
        append(.payload, payload.prefix(room), to: &bytes)
        let length = Self.octets(UInt16(bytes.count))
        bytes[4] = length[0]
        bytes[5] = length[1]
        return (bytes, payload.count > room)
    }

    private func append(_ chunk: Chunk, _ value: some Collection<UInt8>, to bytes: inout [UInt8]) {
        bytes += [0, 0]
        bytes += Self.octets(chunk.rawValue)
        bytes += Self.octets(UInt16(value.count + 6))
        bytes += value
    }

    private static func octets(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}
