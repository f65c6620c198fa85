/// The place of a shard among the shards of the node, and which users belong to it.
struct ShardPlace: Hashable {
    /// Index of this shard.
    var index = 0
    /// Number of shards.
    var count = 1

    /// Whether the state of a user belongs to this shard.
    func has(_ key: String) -> Bool { count == 1 || shard(of: key) == index }

    /// Index of the shard that has the state of a user.
    func shard(of key: String) -> Int { count == 1 ? 0 : Partition(ofKey: key).shard(of: count) }

    /// Beginning of the tags of dialogs that are assigned by a user.
    func label(for key: String) -> String { Partition(ofKey: key, at: index, of: count).label }
}
