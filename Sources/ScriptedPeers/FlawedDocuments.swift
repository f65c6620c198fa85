/// Fault of a document that a scripted server sends.
package enum NotifiedFlaw: Sendable {
    /// Optional elements that violate their standard, beside valid ones: deployed programs write them.
    case oddPieces
    /// Only the first half of the octets.
    case unreadable
}

extension NotifiedFlaw {
    /// Applies the flaw to the body of a notification.
    func applied(to body: [UInt8], _ contentType: String) -> [UInt8] {
        switch self {
        case .unreadable: return Array(body.prefix(body.count / 2))
        case .oddPieces:
            // Differences refer to elements of the previous document, which must therefore stay unchanged.
            if contentType.hasPrefix("application/pidf-diff") { return body }
            var text = String(decoding: body, as: UTF8.self)
            for (mark, piece) in Self.pieces { text = text.replacing(mark, with: piece) }
            return Array(text.utf8)
        }
    }

    /// Rules that are broken: three decimals of a priority (RFC 3863 4.1.5), a time in a timestamp (RFC 3863 4.1.7), a time in lastActive
    /// (MS-PRES 2.2.2.7.1), and a time in publishTime (MS-PRES 2.2.2.1).
    private static let pieces = [
        ("</status></tuple>", "</status><contact priority=\"0.800000\">sip:odd@example.org</contact><timestamp/></tuple>"),
        ("xsi:type=\"aggregateState\"", "xsi:type=\"aggregateState\" lastActive=\"\""),
        ("</categories>", "<category name=\"routing\" instance=\"0\" publishTime=\"yesterday\"/></categories>"),
    ]
}

extension String {
    /// Replaces every occurrence, without Foundation.
    fileprivate func replacing(_ mark: String, with piece: String) -> String {
        var result = ""
        var rest = self[...]
        while let range = rest.firstRange(of: mark) {
            result += rest[..<range.lowerBound] + piece
            rest = rest[range.upperBound...]
        }
        return result + rest
    }
}
