/// Reader of header lines up to the empty line (RFC 3261 7.3): folding, compact names, CRLF or bare LF.
struct HeaderBlockReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private(set) var position: Int
    let end: Int
    private let table = HeaderTable.shared

    init(_ bytes: UnsafeBufferPointer<UInt8>, from position: Int, to end: Int) {
        self.bytes = bytes
        self.position = position
        self.end = end
    }

    enum Line: Equatable {
        /// Header field; `isFolded` if the value contains line breaks.
        case field(name: Range<Int>, value: Range<Int>, known: KnownHeader, isFolded: Bool)
        /// Empty line.
        case end
        /// Line without colon or without a token before it, or with a bare CR or NUL octet.
        case malformed(Range<Int>)
        /// End of the bytes before the empty line.
        case truncated
    }

    /// Index of the first octet below 0x20 from `from` on, examined eight at a time; `end` if there is none.
    @inline(__always)
    static func nextControl(_ bytes: UnsafeBufferPointer<UInt8>, _ from: Int, _ end: Int) -> Int {
        var index = from
        guard let base = UnsafeRawPointer(bytes.baseAddress) else { return end }
        while index &+ 8 <= end {
            let word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let hits = (word &- 0x2020_2020_2020_2020) & ~word & 0x8080_8080_8080_8080
            if hits != 0 { return index &+ hits.trailingZeroBitCount / 8 }
            index &+= 8
        }
        while index < end {
            if bytes[index] < 0x20 { return index }
            index &+= 1
        }
        return end
    }

    /// End of the line that starts here, and start of the next one; nil if the bytes end first. Sets `isSound` to false at a bare
    /// CR or NUL.
    @inline(__always)
    static func lineEnd(
        _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int, _ isSound: inout Bool
    ) -> (end: Int, next: Int)? {
        var index = start
        while true {
            index = nextControl(bytes, index, end)
            guard index < end else { return nil }
            switch bytes[index] {
            case 0x0A: return (index, index + 1)
            case 0x0D:
                guard index + 1 < end else { return nil }
                if bytes[index + 1] == 0x0A { return (index, index + 2) }
                isSound = false
            case 0x00:
                // A quoted pair may contain any octet (RFC 3261 25.1).
                if index == start || bytes[index - 1] != 0x5C { isSound = false }
            default: break
            }
            index += 1
        }
    }

    /// First octet of the next line; nil at the end of the bytes.
    @inline(__always)
    var first: UInt8? { position < end ? bytes[position] : nil }

    /// Skips a line or continuation line unread; false if the bytes end first.
    @inline(__always)
    mutating func skipLine() -> Bool {
        var index = position
        while true {
            index = Self.nextControl(bytes, index, end)
            guard index < end else { return false }
            index &+= 1
            if bytes[index &- 1] == 0x0A { break }
        }
        position = index
        return true
    }

    @inline(__always)
    mutating func next() -> Line {
        let start = position
        var isSound = true
        guard var line = Self.lineEnd(bytes, start, end, &isSound) else { return .truncated }
        if line.end == start {
            position = line.next
            return .end
        }
        var isFolded = false
        while line.next < end, bytes[line.next] == 0x20 || bytes[line.next] == 0x09 {
            isFolded = true
            guard let continuation = Self.lineEnd(bytes, line.next, end, &isSound) else { return .truncated }
            line = continuation
        }
        position = line.next
        guard isSound else { return .malformed(start..<line.end) }
        // Most names are known and followed by the colon: a match in the table makes checking their characters unnecessary.
        var index = start
        while index < line.end, bytes[index] != 0x3A { index &+= 1 }
        guard index < line.end, index > start else { return .malformed(start..<line.end) }
        var nameEnd = index
        var known = table.lookup(UnsafeBufferPointer(rebasing: bytes[start..<nameEnd]))
        if known == .unknown {
            nameEnd = start
            while nameEnd < index, ASCII.isToken(bytes[nameEnd]) { nameEnd &+= 1 }
            for offset in nameEnd..<index where bytes[offset] != 0x20 && bytes[offset] != 0x09 { return .malformed(start..<line.end) }
            guard nameEnd > start else { return .malformed(start..<line.end) }
            if nameEnd < index { known = table.lookup(UnsafeBufferPointer(rebasing: bytes[start..<nameEnd])) }
        }
        let value = ByteScanner(bytes, start..<line.end).trimmed(index + 1..<line.end)
        return .field(name: start..<nameEnd, value: value, known: known, isFolded: isFolded)
    }

    /// Replaces each line break and the blanks around it by one space.
    static func unfold(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            let byte = bytes[index]
            guard byte == 0x0D || byte == 0x0A else {
                result.append(byte)
                index += 1
                continue
            }
            while let last = result.last, last == 0x20 || last == 0x09 { result.removeLast() }
            while index < range.upperBound, bytes[index] == 0x0D || bytes[index] == 0x0A || bytes[index] == 0x20 || bytes[index] == 0x09 {
                index += 1
            }
            result.append(0x20)
        }
        return result
    }
}
