import PresenceDocuments
import SIPCore

/// One kind of text that searches look at: what a field says, the SIP addresses, or the further mail addresses of a user.
enum SearchedText: Hashable, Sendable {
    case field(DirectoryField)
    case sipAddress
    case otherEmail

    /// By the name of an attribute in a filter, in lower case (MS-PRES 8.3).
    private static let named: [String: [SearchedText]] = {
        var named: [String: [SearchedText]] = [
            "msrtcuri": [.sipAddress], "msrtcmail": [.field(.email), .otherEmail], "cn": [.field(.displayName)],
            "name": [.field(.displayName)],
            // The search over all names (MS-PRES 1.3.2).
            "anr": [
                .field(.displayName), .field(.givenName), .field(.surname), .field(.email), .field(.account), .sipAddress,
            ],
        ]
        for field in DirectoryField.allCases { named[field.attribute.lowercased()] = [.field(field)] }
        return named
    }()

    /// What the attribute of a filter means; empty for an attribute that is not known.
    static func texts(of attribute: String) -> [SearchedText] { named[attribute.lowercased()] ?? [] }

    static let all: [SearchedText] = DirectoryField.allCases.map { .field($0) } + [.sipAddress, .otherEmail]

    func values(of user: DirectoryUser) -> [String] {
        switch self {
        case .field(.displayName): [user.displayName]
        case .field(.account): [user.account]
        case .field(let field): user[field].map { [$0] } ?? []
        case .sipAddress: ([user.uri.description] + user.secondaryURIs).flatMap { [$0, Self.withoutScheme($0)] }
        case .otherEmail: user.otherEmails
        }
    }

    private static func withoutScheme(_ uri: String) -> String {
        uri.lowercased().hasPrefix("sip:") ? String(uri.dropFirst(4)) : uri
    }
}

/// One filter of a search, prepared for many comparisons.
struct PrefixTest {
    let texts: [SearchedText]
    private let folded: [UInt8]

    init(_ filter: DirectorySearchFilter) {
        texts = SearchedText.texts(of: filter.attribute)
        folded = Self.fold(filter.value)
    }

    /// Texts are compared without regard to case, octet by octet.
    static func fold(_ value: String) -> [UInt8] { Array(value.lowercased().utf8) }

    func holds(for value: String) -> Bool {
        var octets = value.utf8.makeIterator()
        for wanted in folded {
            guard let octet = octets.next() else { return false }
            guard octet < 0x80 else { return Self.fold(value).starts(with: folded) }
            if (octet >= 0x41 && octet <= 0x5A ? octet | 0x20 : octet) != wanted { return false }
        }
        return true
    }

    /// Whether the value sorts before all those for which the test holds.
    func follows(_ value: String) -> Bool { Self.fold(value).lexicographicallyPrecedes(folded) }
}

/// The values of all users, one list for each kind of text, sorted by their folded octets, so that those with one prefix are neighbours.
///
/// An entry takes 8 octets: it says where the value is, and the few that a search looks at are folded again.
struct SearchIndex: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        /// The user's place in the directory.
        var place: UInt32
        /// Which of the user's values of this kind.
        var ordinal: UInt32
    }

    private var entries: [SearchedText: [Entry]] = [:]

    init(_ users: [DirectoryUser]) {
        for text in SearchedText.all {
            var values: [(folded: [UInt8], entry: Entry)] = []
            for (place, user) in users.enumerated() {
                for (ordinal, value) in text.values(of: user).enumerated() {
                    values.append((PrefixTest.fold(value), Entry(place: UInt32(place), ordinal: UInt32(ordinal))))
                }
            }
            guard !values.isEmpty else { continue }
            values.sort { $0.folded.lexicographicallyPrecedes($1.folded) }
            entries[text] = values.map(\.entry)
        }
    }

    /// The entries for which a filter holds, found by bisection.
    /// - Parameter comparisons: Goes up by one for each value that is looked at.
    func matches(_ test: PrefixTest, among users: [DirectoryUser], comparisons: inout Int) -> [ArraySlice<Entry>] {
        var matches: [ArraySlice<Entry>] = []
        for text in test.texts {
            guard let sorted = entries[text] else { continue }
            func value(_ entry: Entry) -> String { text.values(of: users[Int(entry.place)])[Int(entry.ordinal)] }
            func bisect(_ range: Range<Int>, _ isBefore: (String) -> Bool) -> Int {
                var (low, high) = (range.lowerBound, range.upperBound)
                while low < high {
                    let middle = (low + high) / 2
                    comparisons += 1
                    if isBefore(value(sorted[middle])) { low = middle + 1 } else { high = middle }
                }
                return low
            }
            let start = bisect(sorted.indices, test.follows)
            let end = bisect(start..<sorted.count, test.holds)
            if start < end { matches.append(sorted[start..<end]) }
        }
        return matches
    }
}
