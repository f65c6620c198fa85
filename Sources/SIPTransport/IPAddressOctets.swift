import Glibc

/// An address literal in network order; the unspecified address for what is no literal.
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

    /// The octets in the wanted family: an IPv4 address within IPv6 is written as RFC 4291 2.5.5.2 has it.
    func octets(isIPv6 wanted: Bool) -> [UInt8] {
        guard wanted, !isIPv6 else { return value }
        return [UInt8](repeating: 0, count: 10) + [255, 255] + value
    }
}
