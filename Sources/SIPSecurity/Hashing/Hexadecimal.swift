/// Octets as pairs of hexadecimal digits.
enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Lower-case digits.
    static func text(_ bytes: some Sequence<UInt8>) -> String {
        var result: [UInt8] = []
        for byte in bytes {
            result.append(digits[Int(byte >> 4)])
            result.append(digits[Int(byte & 15)])
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Parses digits of either case; nil for an odd number of digits or other characters.
    static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        let source = Array(text.utf8)
        guard source.count.isMultiple(of: 2) else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(source.count / 2)
        for index in stride(from: 0, to: source.count, by: 2) {
            guard let high = value(source[index]), let low = value(source[index + 1]) else { return nil }
            result.append(high << 4 | low)
        }
        return result
    }

    private static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}
