/// The limits of a paged search (RFC 2696).
struct LDAPPaging {
    /// Largest number of pages without an entry. A server may send such pages with a cookie; without a limit, a faulty server would keep
    /// the search running.
    static let emptyPageLimit = 100

    private let entryLimit: Int
    private var entries = 0
    private var emptyPages = 0

    /// - Parameter entryLimit: Largest number of entries of all pages.
    init(entryLimit: Int) { self.entryLimit = entryLimit }

    /// Counts a page with this number of entries.
    /// - Throws: `LDAPFailure` for more than `entryLimit` entries, because a part of a directory would be a wrong directory, and for
    ///   more than ``emptyPageLimit`` pages without an entry.
    mutating func count(_ pageEntries: Int) throws(LDAPFailure) {
        entries += pageEntries
        guard entries <= entryLimit else { throw LDAPFailure(operation: "search", reason: "more than \(entryLimit) entries") }
        if pageEntries == 0 { emptyPages += 1 }
        guard emptyPages <= Self.emptyPageLimit else {
            throw LDAPFailure(
                operation: "search", reason: "more than \(Self.emptyPageLimit) pages without an entry: the server does not end the search")
        }
    }
}
