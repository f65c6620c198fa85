import Glibc

/// Octets of an address literal in network byte order; the unspecified IPv4 address for text that is not a literal.
struct IPAddressOctets {
    /// 4 or 16 octets.
    private let value: [UInt8]

    var isIPv6: Bool { value.count == 16 }

    init(_ literal: String) {
        var octets = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, literal, &octets) == 1 {
            value = Array(octets.prefix(4))
        } else {
            value = inet_pton(AF_INET6, literal, &octets) == 1 ? octets : [0, 0, 0, 0]
        }
    }

    /// Returns the octets in the requested family; an IPv4 address becomes IPv4-mapped IPv6 (RFC 4291 2.5.5.2).
    func octets(isIPv6 wanted: Bool) -> [UInt8] {
        guard wanted, !isIPv6 else { return value }
        return [UInt8](repeating: 0, count: 10) + [255, 255] + value
    }
}
