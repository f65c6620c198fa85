/// Percent-encoding of path segments and queries (RFC 3986 2.1).
enum PercentCoding {
    /// Octet of a decoded text.
    struct Unit: Equatable {
        var octet: UInt8
        var isEscaped: Bool
    }

    /// Decodes once; nil where `%` is not followed by two hexadecimal digits.
    static func units(_ text: some Sequence<UInt8>) -> [Unit]? {
        var result: [Unit] = []
        var iterator = text.makeIterator()
        while let octet = iterator.next() {
            guard octet == UInt8(ascii: "%") else {
                result.append(Unit(octet: octet, isEscaped: false))
                continue
            }
            guard let high = iterator.next().flatMap(digit), let low = iterator.next().flatMap(digit) else { return nil }
            result.append(Unit(octet: high << 4 | low, isEscaped: true))
        }
        return result
    }

    /// Decodes once; nil where an escape is malformed or the octets are not UTF-8.
    static func decode(_ text: some Sequence<UInt8>) -> String? {
        guard let units = units(text) else { return nil }
        return String(validating: units.map(\.octet), as: UTF8.self)
    }

    /// Encodes every octet that RFC 3986 3.3 does not allow in a segment.
    static func encode(_ segment: String) -> String {
        var result = ""
        for octet in segment.utf8 {
            if isSegment(octet) {
                result.unicodeScalars.append(Unicode.Scalar(octet))
            } else {
                result += "%"
                result.unicodeScalars.append(hexadecimal(octet >> 4))
                result.unicodeScalars.append(hexadecimal(octet & 0x0F))
            }
        }
        return result
    }

    private static func hexadecimal(_ value: UInt8) -> Unicode.Scalar {
        Unicode.Scalar(value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10)
    }

    private static func digit(_ octet: UInt8) -> UInt8? {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): octet - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): octet - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): octet - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func isSegment(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "!"), UInt8(ascii: "$"),
            UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "@"):
            true
        default: false
        }
    }
}
