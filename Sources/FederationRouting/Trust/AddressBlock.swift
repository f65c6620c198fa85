/// An IPv4 or IPv6 address, or a block of them in CIDR notation (RFC 4632, RFC 4291 2.3): `192.0.2.7`, `192.0.2.0/24`, `2001:db8::/32`.
public struct AddressBlock: Hashable, Sendable, CustomStringConvertible {
    /// 4 or 16 octets; the bits beyond the prefix are 0.
    private let octets: [UInt8]
    /// Length of the prefix in bits.
    private let length: Int

    /// Parses an address or block; nil for other texts, and for blocks with bits set beyond the prefix.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let octets = Self.octets(String(parts[0])) else { return nil }
        var length = octets.count * 8
        if parts.count == 2 {
            guard !parts[1].isEmpty, parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let bits = Int(parts[1]), bits <= length
            else { return nil }
            length = bits
        }
        guard Self.masked(octets, length) == octets else { return nil }
        self.octets = octets
        self.length = length
    }

    /// The loopback addresses: 127.0.0.0/8 and ::1.
    public static let loopback = ["127.0.0.0/8", "::1"].compactMap { AddressBlock($0) }

    /// Whether an address lies in the block; false for texts that are no address. An IPv4-mapped IPv6 address (RFC 4291
    /// 2.5.5.2), as dual-stack sockets report it, counts as the IPv4 address.
    public func contains(_ address: String) -> Bool {
        guard let other = Self.octets(address), other.count == octets.count else { return false }
        return Self.masked(other, length) == octets
    }

    /// The address, with `/` and the prefix length unless all bits count. IPv6 is written without `::`.
    public var description: String {
        let address: String
        if octets.count == 4 {
            address = octets.map(String.init).joined(separator: ".")
        } else {
            address = stride(from: 0, to: 16, by: 2).map { String(Int(octets[$0]) << 8 | Int(octets[$0 + 1]), radix: 16) }
                .joined(separator: ":")
        }
        return length == octets.count * 8 ? address : "\(address)/\(length)"
    }

    // MARK: Octets

    private static func masked(_ octets: [UInt8], _ length: Int) -> [UInt8] {
        octets.enumerated().map { index, octet in
            let bits = min(max(length - index * 8, 0), 8)
            return bits == 0 ? 0 : octet & (UInt8.max << UInt8(8 - bits))
        }
    }

    /// Parses an address without brackets; nil for other texts. A zone (RFC 4007) is ignored.
    private static func octets(_ text: String) -> [UInt8]? {
        let text = text.prefix { $0 != "%" }
        guard text.utf8.contains(UInt8(ascii: ":")) else { return dotted(text) }
        guard let octets = colonHex(text) else { return nil }
        let isMapped = octets[..<10].allSatisfy { $0 == 0 } && octets[10] == 0xFF && octets[11] == 0xFF
        return isMapped ? Array(octets[12...]) : octets
    }

    private static func dotted(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var octets: [UInt8] = []
        for part in parts {
            guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let octet = UInt8(part),
                part.utf8.count == 1 || part.utf8.first != UInt8(ascii: "0")
            else { return nil }
            octets.append(octet)
        }
        return octets
    }

    private static func colonHex(_ text: Substring) -> [UInt8]? {
        var halves: [Substring] = [text]
        if let gap = text.indices.first(where: { text[$0...].hasPrefix("::") }) {
            halves = [text[..<gap], text[text.index(gap, offsetBy: 2)...]]
        }
        let read = halves.map { groups($0) }
        guard let head = read[0] else { return nil }
        guard read.count == 2 else { return head.count == 16 ? head : nil }
        // The gap `::` replaces at least one group.
        guard let tail = read[1], head.count + tail.count <= 14 else { return nil }
        return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    /// Parses groups of 16 bits, the last of which may be an IPv4 address (RFC 4291 2.2).
    private static func groups(_ text: Substring) -> [UInt8]? {
        if text.isEmpty { return [] }
        var octets: [UInt8] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, part.contains("."), let last = dotted(part) {
                octets += last
            } else if (1...4).contains(part.utf8.count), part.utf8.allSatisfy({ Self.isHex($0) }), let group = UInt16(part, radix: 16) {
                octets += [UInt8(group >> 8), UInt8(group & 0xFF)]
            } else {
                return nil
            }
        }
        return octets.count <= 16 ? octets : nil
    }

    private static func isHex(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20) }
}
