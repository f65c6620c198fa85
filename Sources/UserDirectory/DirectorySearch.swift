import PresenceDocuments
import SIPCore

/// What a search found (MS-PRES 3.1.5.2).
public struct DirectoryMatches: Hashable, Sendable {
    /// In the order of their SIP URIs.
    public var users: [DirectoryUser] = []
    /// Whether more users match, or may match, than are returned.
    public var moreAvailable = false
    /// The values and users that the search looked at: its work.
    public var comparisons = 0

    /// The rows of the answer (MS-PRES 4.1).
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
    /// Most values that one search compares; one that would compare more answers with what it has found so far.
    public static let standardComparisons = 20_000

    /// The users of one domain who fulfil every filter (MS-PRES 3.1.5.2).
    ///
    /// A filter holds when a value of its attribute begins with its text, without regard to case; an attribute that is not known
    /// holds for no user, as in a directory service. The filter with the fewest values in the index chooses the users that the others are
    /// tried on.
    /// - Parameters:
    ///   - domain: The SIP domain in which is searched, in lower case.
    ///   - requester: The `aorKey` of the user that asks; users who are disabled or hidden from it are not found (MS-PRES 1.3.2).
    ///   - limit: Most users returned: the lower of what is asked for and what the administrator allows.
    ///   - mostComparisons: Where the search is broken off, as if there were more.
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
        // Where every filter fits very many users, they are looked through in their order.
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
    /// Whether a search by `requester` may show this user (MS-PRES 1.3.2).
    func isVisible(to requester: String) -> Bool { isEnabled && (!isHidden || key == requester) }
}
