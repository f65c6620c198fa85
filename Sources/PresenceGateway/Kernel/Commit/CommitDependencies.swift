import ByteCoding
import SIPCore

/// For each partition of users and dialogs the newest commit that changes a record of it, or that a message of it waits for.
///
/// Partitions are hashes of keys, so that the table has a fixed size; two keys in one partition cost a needless wait only.
struct CommitDependencies {
    static let partitions = 4_096
    /// Stands for a commit with an unknown outcome.
    static let unknown = UInt64.max

    private var newest = [UInt64](repeating: 0, count: partitions)
    private var stored: UInt64 = 0

    /// Number of the newest commit that is not stored yet; 0: none.
    subscript(partition: UInt16) -> UInt64 {
        let number = newest[Int(partition)]
        return number > stored ? number : 0
    }

    mutating func note(_ partition: UInt16, _ number: UInt64) {
        if newest[Int(partition)] < number { newest[Int(partition)] = number }
    }

    /// Number of the newest commit in the scope that is not stored yet; 0: none.
    func newest(in scope: CommitScope) -> UInt64 {
        var number = max(self[scope.one], self[scope.other])
        if let dialog = scope.dialog { number = max(number, self[dialog]) }
        return max(number, scope.others > stored ? scope.others : 0)
    }

    mutating func committed(_ number: UInt64) { stored = max(stored, number) }

    /// Forgets all: everything is stored, or was given up.
    mutating func clear() {
        for index in newest.indices { newest[index] = 0 }
    }

    /// The partition of a user's `aorKey`, or of the local tag of a dialog.
    static func partition(of key: String) -> UInt16 { UInt16(FNV1a(of: key.utf8).value % UInt64(partitions)) }
}

extension StoreKey {
    /// The partition of its user or dialog.
    var partition: UInt16 {
        switch self {
        case .dialog(let tag), .upstreamSubscription(let tag): CommitDependencies.partition(of: tag)
        default: CommitDependencies.partition(of: user ?? "")
        }
    }
}
