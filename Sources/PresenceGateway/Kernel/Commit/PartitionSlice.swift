import SIPCore

/// Some of the partitions of one shard: those in a range of numbers that belong to it. The unit in which records are read.
package struct PartitionSlice: Hashable, Sendable {
    /// Numbers of partitions, 0 to 4,095; those of other shards are skipped.
    package let numbers: ClosedRange<Int>
    /// Index of the shard.
    package let shard: Int
    /// Number of shards, at least 1.
    package let shards: Int

    /// All partitions.
    package static let all = PartitionSlice(0...Partition.count - 1, of: 0, among: 1)

    /// Creates a slice.
    package init(_ numbers: ClosedRange<Int>, of shard: Int, among shards: Int) {
        self.numbers = numbers
        self.shard = shard
        self.shards = shards
    }

    /// The slices of a shard, in order; together they have all of its partitions.
    /// - Parameter size: number of partitions in each, at least 1; the last one may have fewer.
    package static func slices(of shard: Int, among shards: Int, size: Int) -> [PartitionSlice] {
        let width = max(1, size) * shards
        return stride(from: 0, to: Partition.count, by: width).map { first in
            PartitionSlice(first...min(first + width, Partition.count) - 1, of: shard, among: shards)
        }
    }

    /// Number of the partition of a user's `aorKey`.
    package static func partition(ofUser key: String) -> Int { Partition(ofKey: key).rawValue }

    /// Whether a partition belongs to the slice.
    package func contains(_ partition: Int) -> Bool { numbers.contains(partition) && partition % shards == shard }
}

/// Kind of records that a restart reads together.
package enum StoreKind: Hashable, Sendable, CaseIterable {
    case presentity
    case publication
    /// Dialogs of presence.
    case presenceDialog
    /// Dialogs of all other packages.
    case otherDialog
    case upstreamSubscription
    case registration
    case contacts
    case accessList
    case bridge
    case shownWatcher
    case signOff
    case document
}

extension StoreRecord {
    /// Kind of the record.
    package var kind: StoreKind {
        switch self {
        case .presentity: .presentity
        case .publication: .publication
        case .dialog(let stored): stored.kind == .watcher ? .presenceDialog : .otherDialog
        case .upstreamSubscription: .upstreamSubscription
        case .registration: .registration
        case .contacts: .contacts
        case .accessList: .accessList
        case .bridge: .bridge
        case .shownWatcher: .shownWatcher
        case .signOff: .signOff
        case .document: .document
        }
    }

    /// Number of the partition of a new record: that of its user, or that of the user that its dialog was assigned by. A restart may
    /// assign the dialog by another user (``GatewayStore/assignDialogs(by:)``).
    package var partition: Int {
        switch self {
        case .dialog(let stored): Partition(ofKey: stored.owner).rawValue
        case .upstreamSubscription(let stored): Partition(ofKey: stored.owner).rawValue
        default: Partition(ofKey: key.user ?? "").rawValue
        }
    }
}

/// The parts of a stored dialog or upstream subscription that decide about its partition.
package struct DialogAssignment: Hashable, Sendable {
    /// Local tag.
    package var tag: String
    /// `aorKey` of the user that it was assigned by.
    package var owner: String
    /// URI of the watcher.
    package var watcher: String
    /// Whether it is a dialog of a list.
    package var isList: Bool

    /// Creates a value from the stored details of the dialog.
    package init(tag: String, owner: String, watcher: String, details: [String: String] = [:]) {
        self.tag = tag
        self.owner = owner
        self.watcher = watcher
        isList = details[StoredDialog.listDetail] != nil
    }

    /// The values of a dialog or an upstream subscription; nil: another record.
    package init?(_ record: StoreRecord) {
        switch record {
        case .dialog(let stored):
            self.init(tag: stored.dialog.localTag, owner: stored.owner, watcher: stored.watcher, details: stored.details)
        case .upstreamSubscription(let stored):
            self.init(tag: stored.tag, owner: stored.owner, watcher: stored.watcher)
        default: return nil
        }
    }
}
