/// Base 64 (RFC 4648 4). Decoding is strict: complete groups, padding only at the end, no other characters.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func text(_ bytes: [UInt8]) -> String {
        var result: [UInt8] = []
        result.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let count = min(3, bytes.count - start)
            var group: UInt32 = 0
            for offset in 0..<3 { group = group << 8 | (offset < count ? UInt32(bytes[start + offset]) : 0) }
            for place in 0..<4 {
                result.append(place <= count ? alphabet[Int(group >> UInt32(18 - 6 * place) & 63)] : UInt8(ascii: "="))
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    static func bytes(_ text: String) -> [UInt8]? {
        let source = Array(text.utf8)
        guard source.count.isMultiple(of: 4) else { return nil }
        let padding = source.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2 else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(source.count / 4 * 3)
        var group: UInt32 = 0
        for (index, byte) in source.dropLast(padding).enumerated() {
            guard let value = value(byte) else { return nil }
            group = group << 6 | UInt32(value)
            guard index % 4 == 3 else { continue }
            result += [UInt8(truncatingIfNeeded: group >> 16), UInt8(truncatingIfNeeded: group >> 8), UInt8(truncatingIfNeeded: group)]
            group = 0
        }
        if padding == 1 { result += [UInt8(truncatingIfNeeded: group >> 10), UInt8(truncatingIfNeeded: group >> 2)] }
        if padding == 2 { result.append(UInt8(truncatingIfNeeded: group >> 4)) }
        return result
    }

    private static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x41...0x5A: byte - 0x41
        case 0x61...0x7A: byte - 0x47
        case 0x30...0x39: byte + 4
        case 0x2B: 62
        case 0x2F: 63
        default: nil
        }
    }
}
