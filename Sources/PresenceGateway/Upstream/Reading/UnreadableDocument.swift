import SIPCore
import SIPEvents

/// The last notified document of a presentity, which cannot be read: the state known before it is unverified.
struct UnreadableDocument: Hashable {
    /// Time of the first unreadable document in a row.
    let since: Instant
    /// Error of the last one.
    private(set) var problem: String
    /// Requests for the whole state that were sent at once, at most ``FullStateDemand/limit``.
    private(set) var requests = 0

    init(since: Instant, problem: String) {
        self.since = since
        self.problem = problem
    }

    /// Whether requests at once did not help.
    var isExhausted: Bool { requests >= FullStateDemand.limit }

    /// Notes a further unreadable document.
    /// - Parameter isAsking: whether a request for the full state is planned or unanswered already.
    /// - Returns: whether to request the full state at once.
    mutating func failed(_ problem: String, isAsking: Bool) -> Bool {
        self.problem = problem
        guard !isAsking, !isExhausted else { return false }
        requests += 1
        return true
    }
}

extension UpstreamSubscription {
    var hasUnreadable: Bool { resources.contains { $0.unreadable != nil } }

    /// Time since which the state of a presentity is unverified; nil: its last SUBSCRIBE was accepted, and its last document was read.
    func unverifiedSince(_ resource: UpstreamResource?) -> Instant? {
        .earliest(verification.doubtedSince, resource?.unreadable?.since)
    }

    /// The earliest of all its presentities.
    var doubtedSince: Instant? { resources.reduce(verification.doubtedSince) { .earliest($0, $1.unreadable?.since) } }
}

extension UpstreamContent {
    /// A part of a notification that cannot be read.
    struct UnreadablePart: Hashable {
        /// `aorKey` of its presentity; nil: unknown.
        var key: String?
        var problem: String
    }

    /// The presentity that an unreadable document names in the `uri` or `entity` of its first start tag; nil: none.
    static func name(inStartTagOf document: [UInt8]) -> String? {
        var rest = Substring(String(decoding: document.prefix(startTagLimit), as: UTF8.self).map { $0.isWhitespace ? " " : $0 })
        while let start = rest.firstIndex(of: "<") {
            rest = rest[start...].dropFirst()
            guard let first = rest.first, first != "?", first != "!" else { continue }
            let tag = rest.prefix { $0 != ">" }
            for (name, quote) in [("uri", "\""), ("uri", "'"), ("entity", "\""), ("entity", "'")] as [(String, Character)] {
                guard let mark = tag.firstRange(of: " \(name)=\(quote)") else { continue }
                let value = tag[mark.upperBound...]
                return value.firstIndex(of: quote).map { String(value[..<$0]) }
            }
            return nil
        }
        return nil
    }

    /// Octets at the beginning of an unreadable document that are searched.
    private static let startTagLimit = 4_096
}
