/// What a byte may be, one table look-up per byte (XML 1.0 2.2, 2.3).
enum XMLCharacterClass {
    static let nameStart: UInt8 = 1
    /// May continue a name; the colon is left to the namespace rules.
    static let name: UInt8 = 2
    /// Ends the fast path through text.
    static let textSpecial: UInt8 = 4
    /// Ends the fast path through an attribute value.
    static let attributeSpecial: UInt8 = 8

    /// 256 entries, made once, never freed.
    nonisolated(unsafe) static let table: UnsafePointer<UInt8> = {
        let table = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
        for value in 0..<256 {
            let byte = UInt8(value)
            var bits: UInt8 = 0
            let letter = (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "_") || byte >= 0x80
            if letter { bits |= nameStart | name }
            if (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") { bits |= name }
            let control = byte < 0x20 && byte != 0x09 && byte != 0x0A
            if control || byte == UInt8(ascii: "<") || byte == UInt8(ascii: "&") || byte == UInt8(ascii: "]") { bits |= textSpecial }
            if byte < 0x20 || [UInt8(ascii: "<"), UInt8(ascii: "&"), UInt8(ascii: "\""), UInt8(ascii: "'")].contains(byte) {
                bits |= attributeSpecial
            }
            table[value] = bits
        }
        return UnsafePointer(table)
    }()

    /// Whether a name with characters beyond ASCII is one; the bytes are valid UTF-8.
    static func isName(_ base: UnsafeMutablePointer<UInt8>, _ start: Int, _ end: Int) -> Bool {
        let bytes = UnsafeBufferPointer(start: base + start, count: end - start)
        var index = 0
        var first = true
        while index < bytes.count {
            if bytes[index] < 0x80 {
                first = bytes[index] == UInt8(ascii: ":")
                index += 1
                continue
            }
            guard let scalar = XMLEncoding.decode(bytes, index) else { return false }
            guard isNameStart(scalar.value) || (!first && isNameExtra(scalar.value)) else { return false }
            first = false
            index += scalar.length
        }
        return true
    }

    private static let nameStartRanges: [ClosedRange<UInt32>] = [
        0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF, 0x370...0x37D, 0x37F...0x1FFF, 0x200C...0x200D, 0x2070...0x218F, 0x2C00...0x2FEF,
        0x3001...0xD7FF, 0xF900...0xFDCF, 0xFDF0...0xFFFD, 0x10000...0xEFFFF,
    ]

    private static func isNameStart(_ scalar: UInt32) -> Bool { nameStartRanges.contains { $0.contains(scalar) } }
    private static func isNameExtra(_ scalar: UInt32) -> Bool {
        scalar == 0xB7 || (0x300...0x36F).contains(scalar) || (0x203F...0x2040).contains(scalar)
    }
}
