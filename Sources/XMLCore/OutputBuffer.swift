/// Output buffer of a document: uniquely owned, grows by doubling.
struct OutputBuffer: ~Copyable {
    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = max(capacity, 64)
        base = .allocate(capacity: self.capacity)
    }

    deinit { base.deallocate() }

    /// Copy of the bytes written so far.
    var bytes: [UInt8] { Array(UnsafeBufferPointer(start: base, count: count)) }

    @inline(__always)
    private mutating func reserve(_ more: Int) {
        if capacity - count < more { grow(more) }
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        capacity = max(capacity * 2, count + more)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: base, count: count)
        base.deallocate()
        base = larger
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1)
        base[count] = byte
        count += 1
    }

    @inline(__always)
    mutating func append(_ source: UnsafePointer<UInt8>, _ length: Int) {
        reserve(length)
        (base + count).update(from: source, count: length)
        count += length
    }

    @inline(__always)
    mutating func append(_ text: StaticString) { append(text.utf8Start, text.utf8CodeUnitCount) }

    mutating func append(bytes: [UInt8]) {
        bytes.withUnsafeBufferPointer { bytes in
            if let start = bytes.baseAddress { append(start, bytes.count) }
        }
    }

    /// Appends text that needs no escapes, such as names.
    @inline(__always)
    mutating func append(text: String) {
        var text = text
        text.withUTF8 { bytes in
            if let start = bytes.baseAddress { append(start, bytes.count) }
        }
    }

    /// Appends a copy of `length` bytes of the output from offset `start`.
    mutating func `repeat`(from start: Int, count length: Int) {
        reserve(length)
        (base + count).update(from: base + start, count: length)
        count += length
    }

    // MARK: escapes

    /// Bytes that may need escaping, at least in attributes: 256 entries, allocated once and never freed.
    private nonisolated(unsafe) static let mayNeedEscape: UnsafePointer<Bool> = {
        let table = UnsafeMutablePointer<Bool>.allocate(capacity: 256)
        table.initialize(repeating: false, count: 256)
        for byte in 0..<0x20 { table[byte] = true }
        for byte in [UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), 0xEF] { table[Int(byte)] = true }
        return UnsafePointer(table)
    }()

    /// Appends character data or an attribute value, escaped.
    mutating func append(escaped text: String, attribute: Bool) {
        var text = text
        text.withUTF8 { bytes in
            guard let source = bytes.baseAddress else { return }
            let escaped = Self.mayNeedEscape
            var start = 0
            var index = 0
            while index < bytes.count {
                guard escaped[Int(source[index])],
                    let replacement = Self.escape(source[index], attribute: attribute, bytes, index)
                else {
                    index += 1
                    continue
                }
                append(source + start, index - start)
                append(replacement)
                index += source[index] == 0xEF ? 3 : 1
                start = index
            }
            append(source + start, bytes.count - start)
        }
    }

    /// Replacement for a byte; nil when it is written unchanged (XML 1.0 2.2, 2.4, 2.11, 3.3.3).
    private static func escape(_ byte: UInt8, attribute: Bool, _ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) -> StaticString? {
        switch byte {
        case UInt8(ascii: "&"): return "&amp;"
        case UInt8(ascii: "<"): return "&lt;"
        case UInt8(ascii: ">"): return "&gt;"
        case UInt8(ascii: "\""): return attribute ? "&quot;" : nil
        case 0x09: return attribute ? "&#9;" : nil
        case 0x0A: return attribute ? "&#10;" : nil
        case 0x0D: return "&#13;"
        case 0x00..<0x20: return "\u{FFFD}"
        case 0xEF where bytes[index + 1] == 0xBF && bytes[index + 2] >= 0xBE: return "\u{FFFD}"
        default: return nil
        }
    }
}
