/// Helpers for the bytes of XML documents.
enum XMLBytes {
    @inline(__always)
    static func equal(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>?, _ count: Int) -> Bool {
        guard let right else { return count == 0 }
        var index = 0
        while index < count {
            if left[index] != right[index] { return false }
            index += 1
        }
        return true
    }

    @inline(__always)
    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D }

    /// Whether a byte may be part of a name, the colon excepted (XML 1.0 2.3); bytes of non-ASCII characters always may.
    @inline(__always)
    static func isName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x41...0x5A, 0x61...0x7A, 0x30...0x39, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), 0x80...: true
        default: false
        }
    }

    /// Removes XML white space at both ends.
    static func trim(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        var low = 0
        var high = bytes.count
        while low < high, isSpace(bytes[low]) { low += 1 }
        while high > low, isSpace(bytes[high - 1]) { high -= 1 }
        return UnsafeBufferPointer(rebasing: bytes[low..<high])
    }
}
