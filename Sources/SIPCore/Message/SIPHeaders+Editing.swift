extension SIPHeaders {
    /// Value of the first line; setting replaces every line with this name, setting nil removes them.
    public subscript(name: SIPHeaderName) -> String? {
        get { first(name) }
        set { setOptional(name, newValue) }
    }

    /// Replaces every line with this name by one, at the position of the first; appends it if there was none.
    public mutating func set(_ name: SIPHeaderName, _ value: String) {
        guard let index = entries.firstIndex(where: { matches($0, name) }) else { return append(name, value) }
        guard let entry = store(name, value) else { return }
        entries[index] = entry
        removeLines(name, after: index)
    }

    /// Appends a line. A name that is not a token is ignored: it could only be an attempt to inject.
    public mutating func append(_ name: SIPHeaderName, _ value: String) {
        if let entry = store(name, value) { entries.append(entry) }
    }

    /// Adds a line before the first line with this name, or at the top; for Via, Route and Record-Route.
    public mutating func prepend(_ name: SIPHeaderName, _ value: String) {
        guard let entry = store(name, value) else { return }
        entries.insert(entry, at: entries.firstIndex { matches($0, name) } ?? 0)
    }

    /// Removes every line with this name.
    public mutating func remove(_ name: SIPHeaderName) {
        if contains(name) { removeLines(name, after: -1) }
    }

    /// Removes the first element of a list header, such as the topmost Via or Route, and returns it; nil when there is none.
    @discardableResult
    public mutating func removeFirstValue(_ name: SIPHeaderName) -> String? {
        let first = list(name).first
        replaceFirstListValue(name, nil)
        return first
    }

    /// Appends all lines with this name of another message, unchanged.
    public mutating func copy(_ name: SIPHeaderName, from other: SIPHeaders) {
        for entry in other.entries where other.matches(entry, name) { copy(entry, from: other) }
    }

    mutating func copy(_ entry: Entry, from other: SIPHeaders) {
        var copy = entry
        if entry.known == .unknown {
            copy.nameStart = UInt32(storage.count)
            storage.append(contentsOf: other.storage[entry.nameRange])
        }
        copy.valueStart = UInt32(storage.count)
        other.storage.withUnsafeBufferPointer { storage.append(contentsOf: UnsafeBufferPointer(rebasing: $0[entry.valueRange])) }
        entries.append(copy)
    }

    /// Replaces every line with this name by one line per value, at the position of the first.
    public mutating func setList(_ name: SIPHeaderName, _ values: [String]) {
        let place = entries.firstIndex { matches($0, name) } ?? entries.count
        removeLines(name, after: -1)
        entries.insert(contentsOf: values.compactMap { store(name, $0) }, at: min(place, entries.count))
    }

    mutating func setOptional(_ name: SIPHeaderName, _ value: String?) {
        if let value { set(name, value) } else { remove(name) }
    }

    /// Replaces the first element of the first line; nil removes it. Other elements of the line are kept.
    mutating func replaceFirstListValue(_ name: SIPHeaderName, _ value: String?) {
        guard let index = entries.firstIndex(where: { matches($0, name) }) else {
            if let value { append(name, value) }
            return
        }
        // The first element stays out of the list, so that a line with one element, which most are, needs no strings.
        var elements: [String] = []
        storage.withUnsafeBufferPointer { bytes in
            let scanner = ByteScanner(bytes, entries[index].valueRange)
            var isFirst = true
            ListSplitter.split(bytes, entries[index].valueRange) {
                if isFirst { isFirst = false } else { elements.append(scanner.string($0)) }
            }
        }
        if elements.isEmpty, let value {
            if let entry = store(name, value) { entries[index] = entry }
            return
        }
        if let value { elements.insert(value, at: 0) }
        if elements.isEmpty {
            entries.remove(at: index)
        } else if let entry = store(name, elements.joined(separator: ", ")) {
            entries[index] = entry
        }
    }

    private mutating func removeLines(_ name: SIPHeaderName, after index: Int) {
        var position = 0
        let lines = entries
        entries.removeAll(keepingCapacity: true)
        for entry in lines {
            if position <= index || !matches(entry, name) { entries.append(entry) }
            position += 1
        }
    }

    /// Stores a value (and the spelling of an unknown name), with CR, LF and NUL as spaces; nil if the name is not a token.
    private mutating func store(_ name: SIPHeaderName, _ value: String) -> Entry? {
        var entry = Entry(known: name.known, nameStart: 0, nameLength: 0, valueStart: 0, valueLength: 0)
        if name.known == .unknown {
            guard !name.spelling.isEmpty, name.spelling.utf8.allSatisfy({ ASCII.isToken($0) }) else { return nil }
            entry.nameStart = UInt32(storage.count)
            storage.append(contentsOf: name.spelling.utf8)
            entry.nameLength = UInt32(storage.count) - entry.nameStart
        }
        var value = value
        let start = storage.count
        let hasControl = value.withUTF8 { bytes in
            let scanner = ByteScanner(bytes, 0..<bytes.count)
            let trimmed = scanner.trimmed(0..<bytes.count)
            storage.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[trimmed]))
            return HeaderBlockReader.nextControl(bytes, trimmed.lowerBound, trimmed.upperBound) < trimmed.upperBound
        }
        if hasControl {
            for index in start..<storage.count where storage[index] == 0x0D || storage[index] == 0x0A || storage[index] == 0 {
                storage[index] = 0x20
            }
        }
        entry.valueStart = UInt32(start)
        entry.valueLength = UInt32(storage.count - start)
        return entry
    }
}

extension SIPHeaders {
    /// Creates empty headers with reserved capacity.
    init(reserving bytes: Int, lines: Int) {
        self.init()
        storage.reserveCapacity(bytes)
        entries.reserveCapacity(lines)
    }

    /// Appends a line with a value of a parsed header, which needs no trimming or check.
    mutating func append(checked known: KnownHeader, _ value: Slice<UnsafeBufferPointer<UInt8>>) {
        entries.append(
            Entry(known: known, nameStart: 0, nameLength: 0, valueStart: UInt32(storage.count), valueLength: UInt32(value.count)))
        storage.append(contentsOf: UnsafeBufferPointer(rebasing: value))
    }

    /// Appends a line with a number, and a token after a space.
    mutating func append(number: Int, _ token: String = "", as known: KnownHeader) {
        let start = storage.count
        let number = max(number, 0)
        var scale = 1
        while number / scale >= 10 { scale *= 10 }
        while scale > 0 {
            storage.append(0x30 + UInt8(number / scale % 10))
            scale /= 10
        }
        if !token.isEmpty {
            storage.append(0x20)
            for octet in token.utf8 where ASCII.isToken(octet) { storage.append(octet) }
        }
        entries.append(
            Entry(
                known: known, nameStart: 0, nameLength: 0, valueStart: UInt32(start), valueLength: UInt32(storage.count - start)))
    }

    /// First element of the first line, parsed as the given type; nil when absent or malformed.
    func parsedFirst<Value: ScannedValue>(_ name: SIPHeaderName) -> Value? {
        guard let entry = firstEntry(name) else { return nil }
        return storage.withUnsafeBufferPointer { bytes in
            var scanner = ByteScanner(bytes, entry.valueRange)
            scanner.skipLWS()
            guard let value = Value(scanner: &scanner) else { return nil }
            scanner.skipLWS()
            return scanner.isAtEnd || (name.isList && scanner.current == 0x2C) ? value : nil
        }
    }

    /// Elements of all lines, parsed as the given type; malformed ones are omitted.
    func parsedList<Value: ScannedValue>(_ name: SIPHeaderName) -> [Value] {
        var result: [Value] = []
        storage.withUnsafeBufferPointer { bytes in
            for entry in entries where matches(entry, name) {
                ListSplitter.split(bytes, entry.valueRange) { element in
                    var scanner = ByteScanner(bytes, element)
                    if let value = Value.scanWhole(&scanner) { result.append(value) }
                }
            }
        }
        return result
    }

    func tag(_ name: SIPHeaderName) -> String? {
        firstEntry(name).flatMap { tag(of: $0) }
    }

    func tag(of entry: Entry) -> String? {
        storage.withUnsafeBufferPointer { bytes in
            var scanner = ByteScanner(bytes, entry.valueRange)
            guard let found = NameAddr.scanTag(&scanner), let range = found else { return nil }
            return scanner.string(range)
        }
    }
}
