import PresenceDocuments
import SIPCore

/// A kind of text that searches compare: a field, the SIP addresses, or the further mail addresses of a user.
enum SearchedText: Hashable, Sendable {
    case field(DirectoryField)
    case sipAddress
    case otherEmail

    /// Texts by the attribute name of a filter, in lower case (MS-PRES 8.3).
    private static let named: [String: [SearchedText]] = {
        var named: [String: [SearchedText]] = [
            "msrtcuri": [.sipAddress], "msrtcmail": [.field(.email), .otherEmail], "cn": [.field(.displayName)],
            "name": [.field(.displayName)],
            // Ambiguous name resolution: a search over all names (MS-PRES 1.3.2).
            "anr": [
                .field(.displayName), .field(.givenName), .field(.surname), .field(.email), .field(.account), .sipAddress,
            ],
        ]
        for field in DirectoryField.allCases { named[field.attribute.lowercased()] = [.field(field)] }
        return named
    }()

    /// The texts that the attribute of a filter selects; empty for an unknown attribute.
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

/// A filter prepared for many comparisons.
struct PrefixTest {
    let texts: [SearchedText]
    private let folded: [UInt8]

    init(_ filter: DirectorySearchFilter) {
        texts = SearchedText.texts(of: filter.attribute)
        folded = Self.fold(filter.value)
    }

    /// The octets of a text in lower case, for comparison without regard to case.
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

    /// Whether the value sorts before every value that the test matches.
    func follows(_ value: String) -> Bool { Self.fold(value).lexicographicallyPrecedes(folded) }
}

/// The values of all users, one list per kind of text, sorted by their folded octets, so that values with a common prefix
/// are neighbours.
///
/// An entry takes 8 octets: it refers to the value, and a search folds the few values that it compares again.
struct SearchIndex: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        /// Index of the user in the directory.
        var place: UInt32
        /// Index among the user's values of this kind.
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

    /// Returns the entries that match a filter, found by bisection.
    /// - Parameter comparisons: Increased by one for each value compared.
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
