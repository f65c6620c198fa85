import PresenceDocuments
import SIPCore

/// The result of a directory search (MS-PRES 3.1.5.2).
public struct DirectoryMatches: Hashable, Sendable {
    /// The matching users in the order of their keys.
    public var users: [DirectoryUser] = []
    /// Whether more users match, or may match because the search stopped early.
    public var moreAvailable = false
    /// Number of values and users compared; measures the work of the search.
    package var comparisons = 0

    /// The rows of the response (MS-PRES 4.1); absent texts are empty.
    public var rows: [DirectorySearchRow] {
        users.map { user in
            DirectorySearchRow(
                uri: user.uri.description, displayName: user.displayName, title: user[.title] ?? "", office: user[.office] ?? "",
                phone: user.phone ?? "", company: user[.company] ?? "", city: user[.city] ?? "", state: user[.state] ?? "",
                country: user[.country] ?? "", email: user.email ?? "")
        }
    }
}

extension UserDirectory {
    /// Default limit of comparisons per search; a search that reaches it returns the users found so far.
    public static let standardComparisons = 20_000

    /// Returns the users of one domain that match every filter (MS-PRES 3.1.5.2).
    ///
    /// A filter matches if a value of its attribute begins with its text, ignoring case; a filter with an unknown attribute
    /// matches no user, as in a directory service. The index selects the candidates of the filter with the fewest matches;
    /// the other filters are tested on them.
    /// - Parameters:
    ///   - domain: The SIP domain to search, in lower case.
    ///   - requester: The `aorKey` of the searching user. Disabled users, and hidden users other than the requester, are
    ///     left out (MS-PRES 1.3.2).
    ///   - limit: Largest number of users returned: the lower of the client's and the administrator's limit.
    ///   - mostComparisons: Number of comparisons after which the search stops with ``DirectoryMatches/moreAvailable`` set.
    public func search(
        _ filters: [DirectorySearchFilter], in domain: String, for requester: String, limit: Int,
        mostComparisons: Int = UserDirectory.standardComparisons
    ) -> DirectoryMatches {
        var matches = DirectoryMatches()
        let tests = filters.map(PrefixTest.init)
        var places: [Int]?
        var remaining = tests
        let ranges = tests.map { index.matches($0, among: users, comparisons: &matches.comparisons) }
        let sizes = ranges.map { $0.reduce(0) { $0 + $1.count } }
        if let narrowest = sizes.indices.min(by: { sizes[$0] < sizes[$1] }), sizes[narrowest] <= mostComparisons {
            places = Set(ranges[narrowest].joined().map { Int($0.place) }).sorted()
            remaining.remove(at: narrowest)
        }
        // No filter is selective enough: scan the users in order.
        for place in places ?? Array(users.indices.prefix(mostComparisons)) {
            let user = users[place]
            matches.comparisons += 1
            guard user.domain == domain, user.isVisible(to: requester),
                remaining.allSatisfy({ $0.holds(for: user, comparisons: &matches.comparisons) })
            else {
                guard matches.comparisons < mostComparisons else {
                    matches.moreAvailable = true
                    return matches
                }
                continue
            }
            guard matches.users.count < limit else {
                matches.moreAvailable = true
                return matches
            }
            matches.users.append(user)
        }
        matches.moreAvailable = places == nil && users.count > mostComparisons
        return matches
    }
}

extension PrefixTest {
    fileprivate func holds(for user: DirectoryUser, comparisons: inout Int) -> Bool {
        for text in texts {
            for value in text.values(of: user) {
                comparisons += 1
                if holds(for: value) { return true }
            }
        }
        return false
    }
}

extension DirectoryUser {
    /// Whether a search by `requester` may return this user (MS-PRES 1.3.2).
    func isVisible(to requester: String) -> Bool { isEnabled && (!isHidden || key == requester) }
}
