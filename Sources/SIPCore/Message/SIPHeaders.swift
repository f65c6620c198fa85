/// Header fields of a message in order (RFC 3261 7.3).
///
/// A parsed message keeps the received bytes and an index into them; strings are created when a value is read. Added values are
/// appended to the same storage. CR, LF and NUL in an added value become spaces, so that a value cannot start another header.
public struct SIPHeaders: Sendable {
    /// Header line: ranges of its value, and of the spelling of an unknown name, in the storage.
    struct Entry: Sendable {
        var known: KnownHeader
        var nameStart: UInt32
        var nameLength: UInt32
        var valueStart: UInt32
        var valueLength: UInt32

        var nameRange: Range<Int> { Int(nameStart)..<Int(nameStart) + Int(nameLength) }
        var valueRange: Range<Int> { Int(valueStart)..<Int(valueStart) + Int(valueLength) }
    }

    var storage: [UInt8]
    var entries: [Entry]

    /// Creates headers without lines.
    public init() {
        storage = []
        entries = []
    }

    init(storage: [UInt8], entries: [Entry]) {
        self.storage = storage
        self.entries = entries
    }

    /// Number of lines.
    public var count: Int { entries.count }
    /// Whether there are no lines.
    public var isEmpty: Bool { entries.isEmpty }

    /// Lines in order, with names in their usual spelling.
    public var lines: [(name: SIPHeaderName, value: String)] { entries.map { (name(of: $0), value(of: $0)) } }

    func name(of entry: Entry) -> SIPHeaderName {
        entry.known == .unknown
            ? SIPHeaderName(String(decoding: storage[entry.nameRange], as: UTF8.self)) : SIPHeaderName(known: entry.known)
    }

    func value(of entry: Entry) -> String { String(decoding: storage[entry.valueRange], as: UTF8.self) }

    @inline(__always)
    func matches(_ entry: Entry, _ name: SIPHeaderName) -> Bool {
        guard entry.known == name.known else { return false }
        guard entry.known == .unknown else { return true }
        guard Int(entry.nameLength) == name.spelling.utf8.count else { return false }
        var index = Int(entry.nameStart)
        for byte in name.spelling.utf8 {
            if ASCII.lower(storage[index]) != ASCII.lower(byte) { return false }
            index += 1
        }
        return true
    }

    func firstEntry(_ name: SIPHeaderName) -> Entry? {
        for entry in entries where matches(entry, name) { return entry }
        return nil
    }

    /// Whether there is a line with this name.
    public func contains(_ name: SIPHeaderName) -> Bool { firstEntry(name) != nil }

    /// Value of the first line with this name; nil when there is none.
    public func first(_ name: SIPHeaderName) -> String? { firstEntry(name).map { value(of: $0) } }

    /// Values of all lines with this name, one per line.
    public func values(_ name: SIPHeaderName) -> [String] {
        var result: [String] = []
        for entry in entries where matches(entry, name) { result.append(value(of: entry)) }
        return result
    }

    /// Elements of all lines with this name: split at commas if the grammar makes the header a list, else one per line.
    public func list(_ name: SIPHeaderName) -> [String] {
        guard name.isList else { return values(name) }
        var result: [String] = []
        storage.withUnsafeBufferPointer { bytes in
            for entry in entries where matches(entry, name) {
                let scanner = ByteScanner(bytes, entry.valueRange)
                ListSplitter.split(bytes, entry.valueRange) { result.append(scanner.string($0)) }
            }
        }
        return result
    }

    /// Whether a list header contains this element, ignoring case and parameters.
    public func hasToken(_ name: SIPHeaderName, _ token: String) -> Bool {
        var token = token
        return storage.withUnsafeBufferPointer { bytes in
            token.withUTF8 { wanted in
                var found = false
                for entry in entries where matches(entry, name) {
                    ListSplitter.split(bytes, entry.valueRange) { element in
                        guard element.count >= wanted.count else { return }
                        for offset in 0..<wanted.count
                        where ASCII.lower(bytes[element.lowerBound + offset]) != ASCII.lower(wanted[offset]) { return }
                        guard element.count > wanted.count else {
                            found = true
                            return
                        }
                        let next = bytes[element.lowerBound + wanted.count]
                        if next == 0x3B || next == 0x20 || next == 0x09 { found = true }
                    }
                }
                return found
            }
        }
    }
}

extension SIPHeaders: Equatable {
    /// Compares names and values in order; values byte for byte.
    public static func == (left: SIPHeaders, right: SIPHeaders) -> Bool {
        guard left.entries.count == right.entries.count else { return false }
        for (one, other) in zip(left.entries, right.entries) {
            guard left.name(of: one) == right.name(of: other),
                left.storage[one.valueRange].elementsEqual(right.storage[other.valueRange])
            else { return false }
        }
        return true
    }
}

/// Splits a header value at the commas between elements: those outside quoted strings and angle brackets. Comments are not
/// recognised.
enum ListSplitter {
    @inline(__always)
    static func split(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, _ visit: (Range<Int>) -> Void) {
        let scanner = ByteScanner(bytes, range)
        var start = range.lowerBound
        var index = start
        var isQuoted = false
        var isBracketed = false
        func emit(_ end: Int) {
            let element = scanner.trimmed(start..<end)
            if !element.isEmpty { visit(element) }
        }
        while index < range.upperBound {
            switch bytes[index] {
            case 0x5C where isQuoted: index += 1
            case 0x22: isQuoted.toggle()
            case 0x3C where !isQuoted: isBracketed = true
            case 0x3E where !isQuoted: isBracketed = false
            case 0x2C where !isQuoted && !isBracketed:
                emit(index)
                start = index + 1
            default: break
            }
            index += 1
        }
        emit(range.upperBound)
    }
}
