import SIPCore
import XMLCore

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

    /// One element per line; a piece of a document stays as it is.
    static func elements(_ xml: String) -> [String] {
        XMLIndentation.indented(Array(xml.utf8)).map { split(String(decoding: $0, as: UTF8.self)) } ?? [xml]
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
