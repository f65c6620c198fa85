/// Character classes of RFC 3261 section 25.1 as bits of one 256-entry table.
enum ASCII {
    static let token: UInt8 = 1
    static let digit: UInt8 = 2
    static let alpha: UInt8 = 4
    static let hex: UInt8 = 8
    static let host: UInt8 = 16
    static let user: UInt8 = 32
    static let uriParameter: UInt8 = 64

    /// Table as a literal, which needs no initialisation check; the tests derive it from the grammar.
    @inline(__always)
    static var classes: UnsafePointer<UInt8> { literal.utf8Start }

    @inline(__always)
    private static var literal: StaticString {
        """
        \u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
        \u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
        \u{0}\u{61}\u{0}\u{20}\u{60}\u{61}\u{60}\u{61}\u{60}\u{60}\u{61}\u{61}\u{20}\u{71}\u{71}\u{60}\
        \u{7b}\u{7b}\u{7b}\u{7b}\u{7b}\u{7b}\u{7b}\u{7b}\u{7b}\u{7b}\u{40}\u{20}\u{0}\u{60}\u{0}\u{20}\
        \u{40}\u{7d}\u{7d}\u{7d}\u{7d}\u{7d}\u{7d}\u{75}\u{75}\u{75}\u{75}\u{75}\u{75}\u{75}\u{75}\u{75}\
        \u{75}\u{75}\u{75}\u{75}\u{75}\u{75}\u{75}\u{75}\u{75}\u{75}\u{75}\u{40}\u{0}\u{40}\u{20}\u{71}\
        \u{21}\u{7d}\u{7d}\u{7d}\u{7d}\u{7d}\u{7d}\u{75}\u{75}\u{75}\u{75}\u{75}\u{75}\u{75}\u{75}\u{75}\
        \u{75}\u{75}\u{75}\u{75}\u{75}\u{75}\u{75}\u{75}\u{75}\u{75}\u{75}\u{20}\u{20}\u{20}\u{61}\u{0}\
        \u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
        \u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
        \u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
        \u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
        \u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
        \u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
        \u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
        \u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}
        """
    }

    @inline(__always)
    static func isToken(_ byte: UInt8) -> Bool { classes[Int(byte)] & token != 0 }

    /// Whether the text consists of token characters; true for an empty text.
    static func isWord(_ text: String) -> Bool { text.utf8.allSatisfy(isToken) }

    @inline(__always)
    static func lower(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: return byte - 0x30
        case 0x41...0x46: return byte - 0x37
        case 0x61...0x66: return byte - 0x57
        default: return nil
        }
    }

    /// Compares ASCII text, ignoring case; other bytes must be equal.
    static func equal(_ left: some StringProtocol, _ right: some StringProtocol) -> Bool {
        var first = left.utf8.makeIterator()
        var second = right.utf8.makeIterator()
        while true {
            switch (first.next(), second.next()) {
            case (nil, nil): return true
            case (let a?, let b?): if lower(a) != lower(b) { return false }
            default: return false
            }
        }
    }

    /// Text with A-Z in lower case; other bytes are unchanged.
    static func lowercased(_ text: String) -> String {
        for byte in text.utf8 where byte &- 0x41 < 26 {
            return String(decoding: text.utf8.map(lower), as: UTF8.self)
        }
        return text
    }
}

/// Cursor over the bytes of one header value or URI; does not read past `end`.
struct ByteScanner {
    let bytes: UnsafeBufferPointer<UInt8>
    var position: Int
    var end: Int

    @inline(__always)
    init(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
    }

    @inline(__always) var isAtEnd: Bool { position >= end }
    @inline(__always) var current: UInt8? { position < end ? bytes[position] : nil }

    @inline(__always)
    func isClass(_ byte: UInt8, _ bits: UInt8) -> Bool { ASCII.classes[Int(byte)] & bits != 0 }

    @inline(__always)
    mutating func skipLWS() {
        while position < end {
            let byte = bytes[position]
            guard byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A else { return }
            position += 1
        }
    }

    @inline(__always)
    mutating func consume(_ byte: UInt8) -> Bool {
        guard position < end, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    /// Skips LWS, the byte, and LWS (COMMA, SEMI, EQUAL and SLASH of the grammar); keeps the position if the byte is absent.
    @inline(__always)
    mutating func consumeSpaced(_ byte: UInt8) -> Bool {
        let start = position
        skipLWS()
        guard consume(byte) else {
            position = start
            return false
        }
        skipLWS()
        return true
    }

    /// Reads the longest run of the given classes; nil if it is empty.
    @inline(__always)
    mutating func run(of bits: UInt8) -> Range<Int>? {
        let start = position
        while position < end, isClass(bytes[position], bits) { position += 1 }
        return position > start ? start..<position : nil
    }

    @inline(__always)
    mutating func token() -> Range<Int>? { run(of: ASCII.token) }

    /// Reads a quoted string; the range excludes the quotes and includes escapes.
    mutating func quotedString() -> Range<Int>? {
        guard current == 0x22 else { return nil }
        let start = position + 1
        var index = start
        while index < end {
            switch bytes[index] {
            case 0x22:
                position = index + 1
                return start..<index
            case 0x5C:
                index += 2
            default:
                index += 1
            }
        }
        return nil
    }

    /// Reads decimal digits; nil if there are none or the number exceeds `limit`.
    mutating func number(limit: UInt64 = UInt64(UInt32.max)) -> UInt64? {
        guard let digits = run(of: ASCII.digit) else { return nil }
        var value: UInt64 = 0
        for index in digits {
            value = value * 10 + UInt64(bytes[index] - 0x30)
            if value > limit { return nil }
        }
        return value
    }

    func string(_ range: Range<Int>) -> String {
        String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
    }

    /// Content of a quoted string with its escapes resolved.
    func unquoted(_ range: Range<Int>) -> String {
        guard range.contains(where: { bytes[$0] == 0x5C }) else { return string(range) }
        var content: [UInt8] = []
        content.reserveCapacity(range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            if bytes[index] == 0x5C, index + 1 < range.upperBound { index += 1 }
            content.append(bytes[index])
            index += 1
        }
        return String(decoding: content, as: UTF8.self)
    }

    /// Compares a range with lower-case text, ignoring case.
    func matches(_ range: Range<Int>, _ lowercase: StaticString) -> Bool {
        guard range.count == lowercase.utf8CodeUnitCount else { return false }
        let text = lowercase.utf8Start
        for offset in 0..<range.count where ASCII.lower(bytes[range.lowerBound + offset]) != text[offset] { return false }
        return true
    }

    @inline(__always)
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        func blank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }
        while lower < upper, blank(bytes[lower]) { lower += 1 }
        while upper > lower, blank(bytes[upper - 1]) { upper -= 1 }
        return lower..<upper
    }
}

/// Header value that can be read from a cursor; a list header is a sequence of these between commas.
protocol ScannedValue {
    init?(scanner: inout ByteScanner)
}

extension ScannedValue {
    /// Reads the whole text as one value; nil if anything is left over.
    static func scanWhole(_ text: String) -> Self? {
        var text = text
        return text.withUTF8 { buffer in
            var scanner = ByteScanner(buffer, 0..<buffer.count)
            return scanWhole(&scanner)
        }
    }

    static func scanWhole(_ scanner: inout ByteScanner) -> Self? {
        scanner.skipLWS()
        guard let value = Self(scanner: &scanner) else { return nil }
        scanner.skipLWS()
        return scanner.isAtEnd ? value : nil
    }
}
