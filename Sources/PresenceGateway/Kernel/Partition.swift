import ByteCoding

/// One of the parts into which all state is divided, by hash of the key of its user.
///
/// A partition belongs to one shard at a time. Tags name the partition, so that a dialog does not depend on the number of shards.
struct Partition: Hashable, Sendable {
    /// Number of partitions; stored tags name them, so it does not change.
    static let count = 4_096

    /// 0 to ``count`` - 1.
    let rawValue: Int

    /// The partition of a user's `aorKey`.
    init(ofKey key: String) {
        var hash = FNV1a(of: key.utf8).value
        hash ^= hash >> 32
        rawValue = Int(hash % UInt64(Self.count))
    }

    /// The partition of a user, or one of the shard if that belongs to another shard, which serves a dialog of the user only if the
    /// configuration has changed meanwhile.
    init(ofKey key: String, at shard: Int, of shards: Int) {
        let home = Partition(ofKey: key)
        guard home.shard(of: shards) != shard else {
            self = home
            return
        }
        let near = home.rawValue - home.rawValue % shards + shard
        rawValue = near < Self.count ? near : near - shards
    }

    /// The partition that a tag names; nil: none.
    init?(tag: some StringProtocol) {
        guard tag.utf8.first == UInt8(ascii: "p"), tag.utf8.count > 4, let value = Int(tag.dropFirst().prefix(3), radix: 36),
            value < Self.count
        else { return nil }
        rawValue = value
    }

    /// Beginning of the tags of the partition: `p` and three digits of base 36.
    var label: String {
        let digits = String(rawValue, radix: 36)
        return "p" + String(repeating: "0", count: 3 - digits.utf8.count) + digits
    }

    /// Index of its shard.
    func shard(of shards: Int) -> Int { rawValue % shards }
}
