import XCAP

/// Documents of the users of a shard, by user, AUID and name.
///
/// Each has two states: the current one, which requests see, and the stored one, which other flows see. They differ until the change
/// is stored.
struct HomeDirectories {
    /// Place of a document in the home directory of a user.
    struct Place: Hashable {
        let auid: String
        let name: String

        init(auid: String, name: String) {
            self.auid = auid
            self.name = name
        }

        /// The place of a document. Both usages of presence rules are names of one ruleset (docs/xcap.md).
        init(_ usage: ApplicationUsage, _ selector: DocumentSelector) {
            self =
                ApplicationUsage.isOfPresenceRules(usage.auid)
                ? .presenceRules : Place(auid: usage.auid, name: selector.path.joined(separator: "/"))
        }

        /// The ruleset of a user.
        static let presenceRules = Place(auid: ApplicationUsage.omaPresenceRules.auid, name: "pres-rules")
    }

    private struct Entry {
        var current: StoredXCAPDocument?
        var stored: StoredXCAPDocument?
    }

    private var homes: [String: [Place: Entry]] = [:]
    /// Number of current documents.
    private(set) var count = 0

    /// The current document.
    func current(_ place: Place, of user: String) -> StoredXCAPDocument? { homes[user]?[place]?.current }

    /// The stored document.
    func stored(_ place: Place, of user: String) -> StoredXCAPDocument? { homes[user]?[place]?.stored }

    /// The current documents of a user, by AUID and name.
    func documents(of user: String) -> [StoredXCAPDocument] {
        (homes[user] ?? [:]).values.compactMap(\.current).sorted { ($0.auid, $0.name) < ($1.auid, $1.name) }
    }

    /// The stored documents of a user, by AUID and name.
    func storedDocuments(of user: String) -> [StoredXCAPDocument] {
        (homes[user] ?? [:]).values.compactMap(\.stored).sorted { ($0.auid, $0.name) < ($1.auid, $1.name) }
    }

    /// The users with documents, sorted.
    var users: [String] { homes.keys.sorted() }

    /// Sets or removes the current document.
    mutating func set(current document: StoredXCAPDocument?, _ place: Place, of user: String) {
        change(place, of: user) { $0.current = document }
    }

    /// Notes the document that the store has; nil: none.
    /// - Returns: whether it differs from the one known before.
    mutating func set(stored document: StoredXCAPDocument?, _ place: Place, of user: String) -> Bool {
        let isOther = stored(place, of: user) != document
        change(place, of: user) { $0.stored = document }
        return isOther
    }

    private mutating func change(_ place: Place, of user: String, _ body: (inout Entry) -> Void) {
        var entry = homes[user]?[place] ?? Entry()
        if entry.current != nil { count -= 1 }
        body(&entry)
        if entry.current != nil { count += 1 }
        homes[user, default: [:]][place] = entry.current == nil && entry.stored == nil ? nil : entry
        if homes[user]?.isEmpty == true { homes[user] = nil }
    }
}
