/// A SIP address normalised for the comparisons of MS-PRES (MS-PRES 4.9.1, RFC 3261 19.1.4).
///
/// Scheme, port and parameters are removed, and the host is in lower case. In the user part, escapes of unreserved characters are
/// resolved, and other escapes have upper-case digits.
public struct PresenceAddress: Hashable, Sendable, CustomStringConvertible {
    /// `user@host`, or the whole text if there is no host.
    public let text: String
    /// The host in lower case; empty if there is none.
    public let domain: String

    /// Normalises `sip:user@host:port;parameters` or `user@host`, optionally in angle brackets; accepts any text.
    public init(_ uri: String) {
        var bytes = Array(uri.utf8)[...].trimmed()
        if bytes.first == UInt8(ascii: "<"), let end = bytes.firstIndex(of: UInt8(ascii: ">")) {
            bytes = bytes[bytes.index(after: bytes.startIndex)..<end].trimmed()
        }
        for scheme in ["sip:", "sips:"] where bytes.startsCaseless(scheme) {
            bytes = bytes.dropFirst(scheme.utf8.count)
            break
        }
        guard let at = bytes.firstIndex(of: UInt8(ascii: "@")) else {
            text = String(decoding: Self.host(bytes, dropsPort: false), as: UTF8.self)
            domain = ""
            return
        }
        domain = String(decoding: Self.host(bytes[bytes.index(after: at)...], dropsPort: true), as: UTF8.self)
        text = String(decoding: Self.canonicalEscapes(bytes[..<at]), as: UTF8.self) + "@" + domain
    }

    /// The same as ``text``.
    public var description: String { text }

    /// The bytes before parameters and headers, in lower case.
    private static func host(_ bytes: ArraySlice<UInt8>, dropsPort: Bool) -> [UInt8] {
        let end = bytes.firstIndex { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: ">") } ?? bytes.endIndex
        var host = bytes[..<end]
        if dropsPort, let colon = host.lastIndex(of: UInt8(ascii: ":")), host[colon...].dropFirst().allSatisfy(\.isDigit) {
            // In an IPv6 address, the last colon is followed by the closing bracket and fails the test for digits.
            host = host[..<colon]
        }
        return host.map(\.lowercasedASCII)
    }

    /// Resolves escapes of unreserved characters (RFC 3261 25.1); other escapes get upper-case digits.
    private static func canonicalEscapes(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        guard bytes.contains(UInt8(ascii: "%")) else { return Array(bytes) }
        var result: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"), rest.count >= 2, let high = rest[rest.startIndex].hexValue,
                let low = rest[rest.startIndex + 1].hexValue
            else {
                result.append(byte)
                continue
            }
            let value = high << 4 | low
            let isUnreserved = value.lowercasedASCII.isLetter || value.isDigit || "-_.!~*'()".utf8.contains(value)
            result += isUnreserved ? [value] : [byte, high.hexDigit, low.hexDigit]
            rest = rest.dropFirst(2)
        }
        return result
    }
}

/// The identifier of an endpoint, compared ignoring case (MS-PRES 2.2.2.1).
struct EndpointKey: Hashable {
    private let bytes: [UInt8]
    init(_ endpointID: String) { bytes = endpointID.utf8.map(\.lowercasedASCII) }
}

extension UInt8 {
    /// The letter in lower case; other bytes unchanged.
    var lowercasedASCII: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }
}

extension UInt8 {
    var isDigit: Bool { self >= 0x30 && self <= 0x39 }
    /// Whether the byte is a lower-case letter.
    var isLetter: Bool { self >= 0x61 && self <= 0x7A }

    /// The upper-case hexadecimal digit of a value from 0 to 15.
    var hexDigit: UInt8 { self < 10 ? self + 0x30 : self - 10 + 0x41 }

    var hexValue: UInt8? {
        if isDigit { return self - 0x30 }
        let lower = lowercasedASCII
        return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : nil
    }
}

extension ArraySlice<UInt8> {
    func trimmed() -> ArraySlice<UInt8> {
        var slice = self
        while let first = slice.first, first <= 0x20 { slice = slice.dropFirst() }
        while let last = slice.last, last <= 0x20 { slice = slice.dropLast() }
        return slice
    }

    /// Whether the slice begins with `prefix`, which must be in lower case.
    func startsCaseless(_ prefix: String) -> Bool {
        count >= prefix.utf8.count && zip(self, prefix.utf8).allSatisfy { $0.lowercasedASCII == $1 }
    }
}
