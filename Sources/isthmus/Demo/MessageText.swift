import SIPCore

/// Formats a SIP message for reading: headers unchanged, XML bodies with one element per line.
enum MessageText {
    static func lines(_ bytes: [UInt8]) -> [String] {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let empty = text.firstRange(ofCRLF: "\r\n\r\n") else { return split(text) }
        let head = split(String(text[..<empty.lowerBound]))
        let body = String(text[empty.upperBound...])
        guard !body.isEmpty else { return head }
        return head + [""] + split(body).flatMap { $0.hasPrefix("<") ? elements($0) : [$0] }
    }

    private static func split(_ text: String) -> [String] {
        text.split(omittingEmptySubsequences: false) { $0 == "\r\n" || $0 == "\n" }.map(String.init)
    }

    /// Breaks XML between tags; text stays with its element, so that no white space is added to content.
    static func elements(_ xml: String) -> [String] {
        var lines: [String] = []
        var depth = 0
        var rest = xml[...]
        while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
            var piece = rest[...close]
            rest = rest[rest.index(after: close)...]
            let isEnd = piece[open...].hasPrefix("</")
            let isSingle = piece.hasSuffix("/>") || piece[open...].hasPrefix("<?") || piece[open...].hasPrefix("<!")
            if isEnd { depth = max(0, depth - 1) }
            let indent = String(repeating: "  ", count: depth)
            if !isEnd, !isSingle {
                depth += 1
                // An element with only text stays on its line.
                if let end = rest.firstIndex(of: "<"), rest[end...].hasPrefix("</"), let endClose = rest[end...].firstIndex(of: ">") {
                    piece = piece.base[piece.startIndex...endClose]
                    rest = rest[rest.index(after: endClose)...]
                    depth -= 1
                }
            }
            lines.append(indent + piece.trimmed)
        }
        let tail = rest.trimmed
        return tail.isEmpty ? lines : lines + [tail]
    }
}

extension Substring {
    fileprivate var trimmed: String {
        var text = self
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}

extension String {
    /// Range of an exact sequence; searches Unicode scalars, because CRLF is one Character.
    fileprivate func firstRange(ofCRLF pattern: String) -> Range<String.Index>? {
        let wanted = Array(pattern.unicodeScalars)
        var at = unicodeScalars.startIndex
        while at < unicodeScalars.endIndex {
            if unicodeScalars[at...].starts(with: wanted) {
                return at..<(unicodeScalars.index(at, offsetBy: wanted.count))
            }
            at = unicodeScalars.index(after: at)
        }
        return nil
    }
}
