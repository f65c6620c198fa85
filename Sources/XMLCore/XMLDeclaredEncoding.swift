/// Encodings that peers use although RFC 3023 8 asks for UTF-8: declared ISO-8859-1 and Windows-1252, UTF-16 without a byte order
/// mark, and UTF-8 declared as UTF-16 (XML 1.0 4.3.3, F).
public enum XMLDeclaredEncoding {
    /// Converts a document to UTF-8 or marked UTF-16 and names the conversion; nil when the parser reads it unchanged or no
    /// conversion applies.
    public static func recoded(_ bytes: [UInt8]) -> (bytes: [UInt8], note: String)? {
        guard bytes.count >= 4 else { return nil }
        if bytes[0] == 0x3C, bytes[1] == 0 { return ([0xFF, 0xFE] + bytes, "UTF-16 without a byte order mark") }
        if bytes[0] == 0, bytes[1] == 0x3C { return ([0xFE, 0xFF] + bytes, "UTF-16 without a byte order mark") }
        guard let name = declared(in: bytes) else { return nil }
        let rest = bytes[name.upperBound...]
        let start = bytes[..<name.lowerBound] + Array("UTF-8".utf8)
        switch String(decoding: bytes[name], as: UTF8.self).uppercased() {
        case "ISO-8859-1", "ISO_8859-1", "LATIN1", "LATIN-1", "L1":
            return (start + rest.flatMap { utf8(of: UInt32($0)) }, "encoding ISO-8859-1")
        case "WINDOWS-1252", "CP1252":
            return (start + rest.flatMap { utf8(of: windows1252($0)) }, "encoding Windows-1252")
        case "UTF-16", "UTF-16LE", "UTF-16BE":
            return (start + Array(rest), "UTF-8 that is declared as UTF-16")
        default:
            return nil
        }
    }

    /// Encoding named by the XML declaration, as written; nil when there is none (XML 1.0 4.3.3).
    public static func name(in bytes: [UInt8]) -> String? {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let head = Array(bytes[start..<min(bytes.count, start + 256)])
        return declared(in: head).map { String(decoding: head[$0], as: UTF8.self) }
    }

    /// Range of the encoding name in the XML declaration; nil when there is none.
    private static func declared(in bytes: [UInt8]) -> Range<Int>? {
        let head = bytes.prefix(256)
        guard head.starts(with: Array("<?xml".utf8)), let end = head.firstIndex(of: UInt8(ascii: ">")) else { return nil }
        let word = Array("encoding".utf8)
        guard end > word.count, let at = (5..<end - word.count).first(where: { head[$0..<$0 + word.count].elementsEqual(word) }) else {
            return nil
        }
        func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }
        guard let low = head[at..<end].firstIndex(where: isQuote), let high = head[(low + 1)..<end].firstIndex(of: head[low]) else {
            return nil
        }
        return low + 1..<high
    }

    private static func utf8(of scalar: UInt32) -> [UInt8] {
        var result: [UInt8] = []
        XMLEncoding.append(scalar, to: &result)
        return result
    }

    /// Characters of bytes 0x80 to 0x9F; the five unassigned bytes become U+FFFD.
    private static let upper: [UInt32] = [
        0x20AC, 0xFFFD, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0xFFFD, 0x017D, 0xFFFD,
        0xFFFD, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0xFFFD, 0x017E, 0x0178,
    ]

    private static func windows1252(_ byte: UInt8) -> UInt32 {
        (0x80...0x9F).contains(byte) ? upper[Int(byte) - 0x80] : UInt32(byte)
    }
}
