extension SIPParser {
    /// Branch of the top Via of a response, found without reading the fields after it; nil for a request, and for a response that
    /// ``parse(_:framing:limits:)`` has to read for it.
    public static func branch(ofResponse bytes: [UInt8], limits: SIPLimits = .standard) -> String? {
        guard bytes.starts(with: "SIP/2.0 ".utf8) else { return nil }
        return bytes.withUnsafeBufferPointer { bytes in
            let end = min(bytes.count, limits.headerBytes)
            var isSound = true
            guard let line = HeaderBlockReader.lineEnd(bytes, 0, end, &isSound), isSound else { return nil }
            var reader = HeaderBlockReader(bytes, from: line.next, to: end)
            while case .field(_, let value, let known, let isFolded) = reader.next() {
                guard known == .via else { continue }
                return isFolded ? nil : branch(ofVia: ByteScanner(bytes, value))
            }
            return nil
        }
    }

    /// Branch of the first value of a Via line.
    private static func branch(ofVia line: ByteScanner) -> String? {
        var scanner = line
        var branch: Range<Int>?
        var isFirst = true
        var isPlain = true
        guard ViaSpans(&scanner) != nil else { return nil }
        let isWhole = SIPParameters.scan(&scanner) { scanner, name, value, isQuoted in
            guard isFirst, name.count == 6, scanner.matches(name, "branch") else { return }
            isFirst = false
            branch = value
            isPlain = !isQuoted
        }
        scanner.skipLWS()
        guard isWhole, isPlain, scanner.isAtEnd || scanner.current == 0x2C else { return nil }
        return branch.map(scanner.string)
    }
}
