/// What a scripted server does to the documents that it notifies.
public enum NotifiedFlaw: Sendable {
    /// Optional pieces that break their standard stand beside what matters: programs in use write them.
    case oddPieces
    /// The octets end in the middle.
    case unreadable
}

extension NotifiedFlaw {
    /// Applies the flaw to the body of a notification.
    func applied(to body: [UInt8], _ contentType: String) -> [UInt8] {
        switch self {
        case .unreadable: return Array(body.prefix(body.count / 2))
        case .oddPieces:
            // Differences name what stands in the document before, so what they apply to stays as it was.
            if contentType.hasPrefix("application/pidf-diff") { return body }
            var text = String(decoding: body, as: UTF8.self)
            for (mark, piece) in Self.pieces { text = text.replacing(mark, with: piece) }
            return Array(text.utf8)
        }
    }

    /// RFC 3863 4.1.5: three decimals; 4.1.7: a timestamp says a time; MS-PRES 2.2.2.7.1: so does lastActive; 2.2.2.1: and publishTime.
    private static let pieces = [
        ("</status></tuple>", "</status><contact priority=\"0.800000\">sip:odd@example.org</contact><timestamp/></tuple>"),
        ("xsi:type=\"aggregateState\"", "xsi:type=\"aggregateState\" lastActive=\"\""),
        ("</categories>", "<category name=\"routing\" instance=\"0\" publishTime=\"yesterday\"/></categories>"),
    ]
}

extension String {
    /// Every occurrence replaced, without Foundation.
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
