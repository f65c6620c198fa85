import NIOCore

/// Mail of one shard to the others, which receive that of a tick in one hop.
struct ShardMailboxes {
    private let shards: [ShardHost]
    private var mailboxes: [[ShardHost.Mail]]

    init(_ shards: [ShardHost] = []) {
        self.shards = shards
        mailboxes = Array(repeating: [], count: shards.count)
    }

    var count: Int { shards.count }

    func contains(_ shard: Int) -> Bool { shards.indices.contains(shard) }

    /// - Returns: Whether there is such a shard.
    mutating func post(_ mail: ShardHost.Mail, to shard: Int) -> Bool {
        guard mailboxes.indices.contains(shard) else { return false }
        mailboxes[shard].append(mail)
        return true
    }

    mutating func flush() {
        for shard in mailboxes.indices where !mailboxes[shard].isEmpty {
            let batch = mailboxes[shard]
            mailboxes[shard] = []
            let target = shards[shard]
            target.eventLoop.execute { target.take(batch) }
        }
    }
}
