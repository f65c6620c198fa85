import ByteCoding
import FederationRouting
import SIPCore

/// Finds the shard of a framed message from its octets; pure, so that any event loop may call it.
///
/// In-dialog requests and responses carry the shard in a token made by the gateway (To tag, or branch of the top Via); other requests
/// are assigned by presentity, so that all publications and watchers of a hosted user meet on one shard.
public struct ShardRouter: Hashable, Sendable {
    /// Number of shards, 1 to 1,296.
    public let shards: Int
    private let identities: IdentityTable
    /// Shards of restored dialogs with tags that name another shard.
    private var adopted: [String: Int] = [:]

    /// Creates a router; `shards` is limited to 1 to 1,296.
    /// - Parameter identities: maps the URIs of one user to one key, so that requests for the user meet on one shard.
    public init(shards: Int, identities: IdentityTable = IdentityTable()) {
        self.identities = identities
        self.shards = max(1, min(shards, 36 * 36))
    }

    /// Notes the shards of stored dialogs that were created under another number of shards.
    public mutating func adopt(_ records: some Sequence<StoreRecord>) {
        for record in records {
            let tag: String
            switch record.key {
            case .dialog(let name), .upstreamSubscription(let name): tag = name
            default: continue
            }
            let shard = shard(ofKey: record.owner)
            adopted[tag] = shard == index(in: Substring(tag)) ?? 0 ? nil : shard
        }
    }

    /// Prefix of every token of a shard: `s` and two digits of base 36; empty if there is only one shard.
    static func prefix(of shard: Int, among shards: Int) -> String {
        guard shards > 1 else { return "" }
        let digits = String(max(0, shard) % (36 * 36), radix: 36)
        return "s" + (digits.utf8.count < 2 ? "0" : "") + digits
    }

    /// Index of the message's shard, from 0. An unreadable message goes to shard 0, which refuses it.
    public func shard(of message: [UInt8]) -> Int {
        guard shards > 1, case .success(let parsed) = SIPParser.parse(message) else { return 0 }
        switch parsed {
        case .response(let response):
            guard let branch = response.headers.topVia?.branch, branch.hasPrefix("z9hG4bK") else { return 0 }
            return index(in: branch.dropFirst(7)) ?? 0
        case .request(let request):
            if let tag = request.headers.toTag { return adopted[tag] ?? index(in: Substring(tag)) ?? 0 }
            // Batches, SERVICE and REGISTER name the user in To, others in the Request-URI.
            let isByTo = request.method == .service || request.method == .register || CategoryRequest.isBatch(request.headers)
            let address = isByTo ? request.headers.to?.uri ?? request.uri : request.uri
            return shard(ofKey: identities.identity(of: address).key)
        }
    }

    /// Index of the shard for a presentity's key.
    public func shard(ofKey key: String) -> Int {
        var hash = FNV1a(of: key.utf8).value
        hash ^= hash >> 32
        return Int(hash % UInt64(shards))
    }

    private func index(in token: Substring) -> Int? {
        guard token.utf8.first == UInt8(ascii: "s"), token.utf8.count > 3 else { return nil }
        guard let value = Int(token.dropFirst().prefix(2), radix: 36), value < shards else { return nil }
        return value
    }
}
