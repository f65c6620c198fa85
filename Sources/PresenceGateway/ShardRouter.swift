import SIPCore

/// Says which shard a framed message belongs to, from its octets alone; pure, so that any event loop may ask.
public struct ShardRouter: Sendable {
    public let shards: Int

    public init(shards: Int) {
        self.shards = max(1, shards)
    }

    /// The shard's index, from 0.
    public func shard(of message: [UInt8]) -> Int { 0 }
}
