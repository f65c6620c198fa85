/// Indentation of a document for people; what it says stays the same.
///
/// Only white space between elements without text of their own is changed. Nothing within an element with text, or with
/// `xml:space="preserve"`, is touched.
public enum XMLIndentation {
    /// The document with two spaces for each level, without a final line end; nil if its tags do not fit together.
    ///
    /// Takes linear time. Does not check the document otherwise.
    public static func indented(_ document: [UInt8]) -> [UInt8]? {
        var scanner = TokenScanner(document)
        guard let tokens = scanner.tokens() else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(document.count * 2)
        var depth = 0
        /// Depth of the outermost open element that is copied as it is.
        var verbatim: Int?
        for (index, token) in tokens.enumerated() {
            let bytes = document[token.range]
            if token.kind == .close {
                depth -= 1
                let isVerbatim = verbatim != nil
                if verbatim == depth { verbatim = nil }
                let isEmpty =
                    index > 0
                    && (tokens[index - 1].kind == .open || index > 1 && tokens[index - 1].kind == .space && tokens[index - 2].kind == .open)
                if !isVerbatim, !isEmpty { newLine(depth, in: &result) }
                result += bytes
                continue
            }
            if verbatim != nil {
                result += bytes
            } else if token.kind != .space {
                newLine(depth, in: &result)
                result += bytes
            }
            guard token.kind == .open else { continue }
            if token.isVerbatim, verbatim == nil { verbatim = depth }
            depth += 1
        }
        return result
    }

    private static func newLine(_ depth: Int, in result: inout [UInt8]) {
        if result.isEmpty { return }
        result.append(UInt8(ascii: "\n"))
        result.append(contentsOf: repeatElement(UInt8(ascii: " "), count: depth * 2))
    }
}

/// Divides a document into tags, text and other markup.
private struct TokenScanner {
    enum Kind { case open, close, empty, text, space, other }

    struct Token {
        var kind: Kind
        var range: Range<Int>
        /// Whether an opened element has text of its own, or keeps its white space.
        var isVerbatim = false
    }

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The tokens; nil if tags do not fit together or a token has no end.
    mutating func tokens() -> [Token]? {
        var tokens: [Token] = []
        var open: [Int] = []
        while position < bytes.count {
            guard let token = next() else { return nil }
            switch token.kind {
            case .open: open.append(tokens.count)
            case .close: if open.popLast() == nil { return nil }
            case .text:
                // Outside of the root there is no text.
                guard let parent = open.last else { return nil }
                tokens[parent].isVerbatim = true
            case .empty, .space, .other: break
            }
            tokens.append(token)
        }
        return open.isEmpty ? tokens : nil
    }

    private mutating func next() -> Token? {
        let start = position
        guard bytes[start] == UInt8(ascii: "<") else {
            position = bytes[start...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
            let isSpace = bytes[start..<position].allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0a || $0 == 0x0d }
            return Token(kind: isSpace ? .space : .text, range: start..<position)
        }
        if begins("<!--") { return upTo("-->", .other) }
        if begins("<![CDATA[") { return upTo("]]>", .text) }
        if begins("<?") { return upTo("?>", .other) }
        // The end of a declaration of a document type is not looked for within its internal subset.
        if begins("<!") { return nil }
        var quote: UInt8?
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return tag(start..<position)
            }
        }
        return nil
    }

    private func tag(_ range: Range<Int>) -> Token? {
        guard range.count > 2 else { return nil }
        if bytes[range.lowerBound + 1] == UInt8(ascii: "/") { return Token(kind: .close, range: range) }
        if bytes[range.upperBound - 2] == UInt8(ascii: "/") { return Token(kind: .empty, range: range) }
        return Token(kind: .open, range: range, isVerbatim: keepsSpace(range))
    }

    private func keepsSpace(_ range: Range<Int>) -> Bool {
        // A tag with the name is enough: `default` in place of `preserve` only leaves the element as it is.
        let name = Array("xml:space".utf8)
        guard range.count > name.count else { return false }
        return (range.lowerBound...(range.upperBound - name.count)).contains {
            bytes[$0] == name[0] && bytes[$0..<$0 + name.count].elementsEqual(name)
        }
    }

    private func begins(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[position...].starts(with: $0) }
    }

    private mutating func upTo(_ end: StaticString, _ kind: Kind) -> Token? {
        let start = position
        return end.withUTF8Buffer { end in
            while position + end.count <= bytes.count {
                if bytes[position..<position + end.count].elementsEqual(end) {
                    position += end.count
                    return Token(kind: kind, range: start..<position)
                }
                position += 1
            }
            return nil
        }
    }
}
