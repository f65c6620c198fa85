/// Accepted encodings: UTF-8 with or without a byte order mark, US-ASCII, and UTF-16 with one (XML 1.0 4.3.3).
enum XMLEncoding {
    /// Converts a document with a UTF-16 byte order mark to UTF-8; nil for other documents.
    static func utf8(fromMarkedUTF16 bytes: UnsafeBufferPointer<UInt8>) throws(XMLError) -> [UInt8]? {
        guard bytes.count >= 2 else { return nil }
        let bigEndian = bytes[0] == 0xFE && bytes[1] == 0xFF
        guard bigEndian || (bytes[0] == 0xFF && bytes[1] == 0xFE) else {
            if bytes[0] == 0 || bytes[1] == 0 { throw failure("UTF-16 without a byte order mark is not read", bytes, 0) }
            return nil
        }
        guard bytes.count % 2 == 0 else { throw failure("a UTF-16 document has an even number of bytes", bytes, bytes.count - 1) }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 2
        func unit(_ index: Int) -> UInt32 {
            bigEndian ? UInt32(bytes[index]) << 8 | UInt32(bytes[index + 1]) : UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index])
        }
        while index < bytes.count {
            var scalar = unit(index)
            index += 2
            if scalar >= 0xD800 && scalar < 0xE000 {
                guard scalar < 0xDC00, index < bytes.count, case let low = unit(index), low >= 0xDC00, low < 0xE000 else {
                    throw failure("an unpaired UTF-16 surrogate", bytes, index - 2)
                }
                scalar = 0x10000 + (scalar - 0xD800) << 10 + (low - 0xDC00)
                index += 2
            }
            append(scalar, to: &result)
        }
        return result
    }

    static func append(_ scalar: UInt32, to bytes: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4) { room in
            guard let start = room.baseAddress else { return }
            let count = write(scalar, to: start)
            bytes.append(contentsOf: UnsafeBufferPointer(start: start, count: count))
        }
    }

    /// Writes one scalar as UTF-8 and returns the number of bytes.
    static func write(_ scalar: UInt32, to bytes: UnsafeMutablePointer<UInt8>) -> Int {
        func tail(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: 0x80 | (scalar >> shift) & 0x3F) }
        switch scalar {
        case ..<0x80:
            bytes[0] = UInt8(truncatingIfNeeded: scalar)
            return 1
        case ..<0x800:
            bytes[0] = UInt8(truncatingIfNeeded: 0xC0 | scalar >> 6)
            bytes[1] = tail(0)
            return 2
        case ..<0x10000:
            bytes[0] = UInt8(truncatingIfNeeded: 0xE0 | scalar >> 12)
            bytes[1] = tail(6)
            bytes[2] = tail(0)
            return 3
        default:
            bytes[0] = UInt8(truncatingIfNeeded: 0xF0 | scalar >> 18)
            bytes[1] = tail(12)
            bytes[2] = tail(6)
            bytes[3] = tail(0)
            return 4
        }
    }

    /// Rejects an XML declaration with an encoding other than the actual one; other errors are left to libxml2.
    static func checkDeclaration(_ bytes: UnsafeBufferPointer<UInt8>, wasUTF16: Bool) throws(XMLError) {
        let mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let opening: StaticString = "<?xml"
        let word: StaticString = "encoding"
        guard let base = bytes.baseAddress, bytes.count > mark + 5, XMLBytes.equal(base + mark, opening.utf8Start, 5),
            XMLBytes.isSpace(bytes[mark + 5])
        else { return }
        var index = mark + 6
        while index + 8 < bytes.count, bytes[index] != UInt8(ascii: ">") {
            defer { index += 1 }
            guard XMLBytes.isSpace(bytes[index - 1]), XMLBytes.equal(base + index, word.utf8Start, 8) else { continue }
            var low = index + 8
            while low < bytes.count, XMLBytes.isSpace(bytes[low]) || bytes[low] == UInt8(ascii: "=") { low += 1 }
            guard low < bytes.count, bytes[low] == UInt8(ascii: "\"") || bytes[low] == UInt8(ascii: "'") else { return }
            var high = low + 1
            while high < bytes.count, bytes[high] != bytes[low], bytes[high] != UInt8(ascii: ">") { high += 1 }
            let name = String(decoding: bytes[(low + 1)..<high], as: UTF8.self)
            let known = wasUTF16 ? ["UTF-16", "UTF-16LE", "UTF-16BE"] : ["UTF-8", "UTF8", "US-ASCII", "ASCII"]
            if known.contains(name.uppercased()) { return }
            throw failure("encoding '\(name.prefix(40))' is not read here; use UTF-8", bytes, low + 1)
        }
    }

    /// Rejects invalid UTF-8, NUL and the noncharacters that XML forbids (XML 1.0 2.2); checks ASCII eight bytes at a time.
    static func validate(_ bytes: UnsafeBufferPointer<UInt8>) throws(XMLError) {
        let count = bytes.count
        let raw = UnsafeRawBufferPointer(bytes)
        var index = 0
        while index < count {
            if index + 8 <= count {
                // No byte with its high bit set, and none that is zero.
                let word = raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                if (word | (word &- 0x0101_0101_0101_0101)) & 0x8080_8080_8080_8080 == 0 {
                    index += 8
                    continue
                }
            }
            guard bytes[index] >= 0x80 else {
                if bytes[index] == 0 {
                    throw XMLError(
                        code: .notWellFormed, message: "XML 1.0 2.2: a character that XML does not allow (0)",
                        position: XMLTree.position(in: bytes, offset: index))
                }
                index += 1
                continue
            }
            guard let scalar = decode(bytes, index) else { throw failure("bytes that are not valid UTF-8", bytes, index) }
            guard scalar.value != 0xFFFE && scalar.value != 0xFFFF else {
                throw failure("a character that XML does not allow", bytes, index)
            }
            index += scalar.length
        }
    }

    /// Decodes the multi-byte scalar at `index`; nil when overlong, a surrogate, out of range or truncated.
    static func decode(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) -> (value: UInt32, length: Int)? {
        let first = bytes[index]
        let length: Int
        var value: UInt32
        let least: UInt32
        switch first {
        case 0xC2...0xDF: (length, value, least) = (2, UInt32(first & 0x1F), 0x80)
        case 0xE0...0xEF: (length, value, least) = (3, UInt32(first & 0x0F), 0x800)
        case 0xF0...0xF4: (length, value, least) = (4, UInt32(first & 0x07), 0x10000)
        default: return nil
        }
        guard index + length <= bytes.count else { return nil }
        for offset in 1..<length {
            let byte = bytes[index + offset]
            guard byte & 0xC0 == 0x80 else { return nil }
            value = value << 6 | UInt32(byte & 0x3F)
        }
        guard value >= least, value <= 0x10FFFF, !(0xD800...0xDFFF).contains(value) else { return nil }
        return (value, length)
    }

    private static func failure(_ message: String, _ bytes: UnsafeBufferPointer<UInt8>, _ offset: Int) -> XMLError {
        XMLError(code: .encoding, message: "XML 1.0 4.3.3: \(message)", position: XMLTree.position(in: bytes, offset: offset))
    }
}
