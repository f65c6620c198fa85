/// For each user and dialog the newest commit that changes a record of it, or that a message of it waits for.
///
/// Users and dialogs are compared exactly, not by hash: a politely blocked watcher must not wait for the commits of the presentity
/// (MS-PRES 1.3.1.3.4), which would show that it is active.
struct CommitDependencies {
    /// Stands for a commit with an unknown outcome.
    static let unknown = UInt64.max

    /// Numbers of commits that are not stored yet.
    private var newest: [String: UInt64] = [:]

    /// Number of the newest commit of a user's `aorKey`, of the key of a record shown to blocked watchers, or of the local tag of a
    /// dialog; 0: none.
    subscript(name: String) -> UInt64 { newest[name] ?? 0 }

    /// Number of the newest commit in the scope; 0: none.
    func newest(in scope: CommitScope) -> UInt64 {
        var number = max(self[scope.one], self[scope.other], scope.others)
        if let dialog = scope.dialog { number = max(number, self[dialog]) }
        return number
    }

    mutating func note(_ name: String, _ number: UInt64) {
        if self[name] < number { newest[name] = number }
    }

    /// Forgets a commit that is stored.
    mutating func forget(_ name: String, _ number: UInt64) {
        if newest[name] == number { newest[name] = nil }
    }

    /// Forgets all commits: they were given up.
    mutating func clear() { newest = [:] }
}

extension StoreKey {
    /// The user's `aorKey`, or the local tag of the dialog.
    var dependencyName: String {
        switch self {
        case .dialog(let tag), .upstreamSubscription(let tag): tag
        default: user ?? ""
        }
    }
}
