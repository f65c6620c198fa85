/// Records that were read again after a failed commit.
struct StoredRecords {
    private var byKey: [StoreKey: StoreRecord] = [:]
    /// Keys by kind and user or dialog, so that runs are reproducible.
    private(set) var users: [String: Set<StoreKey>] = [:]
    /// Local tags of dialogs, sorted.
    let dialogs: [String]

    init(_ keys: Set<StoreKey>, _ records: [StoreRecord]) {
        for record in records { byKey[record.key] = record }
        var tags: [String] = []
        for key in keys {
            if case .dialog(let tag) = key { tags.append(tag) }
            if let user = key.user { users[user, default: []].insert(key) }
        }
        dialogs = tags.sorted()
    }

    /// The stored record; nil: there is none.
    subscript(key: StoreKey) -> StoreRecord? { byKey[key] }

    /// Users with a changed record of a kind, sorted.
    func users(where isWanted: (StoreKey) -> Bool) -> [String] {
        users.filter { $0.value.contains(where: isWanted) }.keys.sorted()
    }
}
