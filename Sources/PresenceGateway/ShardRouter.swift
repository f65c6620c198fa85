import ByteCoding
import FederationRouting
import SIPCore

/// Says which shard a framed message belongs to, from its octets alone; pure, so that any event loop may ask.
///
/// In-dialog requests and responses carry the shard in a token that we made (To tag, or branch of the top Via); everything else goes
/// by the presentity, so that all publications and watchers of a hosted user meet on one shard.
public struct ShardRouter: Hashable, Sendable {
    public let shards: Int
    private let identities: IdentityTable
    /// Dialogs of an earlier process whose tags name another shard than the one that has them now.
    private var adopted: [String: Int] = [:]

    /// - Parameter identities: which URIs name one user, whose requests meet on one shard.
    public init(shards: Int, identities: IdentityTable = IdentityTable()) {
        self.identities = identities
        self.shards = max(1, min(shards, 36 * 36))
    }

    /// Learns where the stored dialogs are that were made under another number of shards.
    public mutating func adopt(_ records: some Sequence<StoreRecord>) {
        for record in records {
            let tag: String
            switch record.key {
            case .dialog(let name), .leg(let name): tag = name
            default: continue
            }
            let shard = shard(ofKey: record.owner)
            adopted[tag] = shard == index(in: Substring(tag)) ?? 0 ? nil : shard
        }
    }

    /// What every token of a shard begins with: `s` and two digits of base 36; nothing when there is only one shard.
    static func prefix(of shard: Int, among shards: Int) -> String {
        guard shards > 1 else { return "" }
        let digits = String(max(0, shard) % (36 * 36), radix: 36)
        return "s" + (digits.utf8.count < 2 ? "0" : "") + digits
    }

    /// The shard's index, from 0. A message that cannot be read goes to shard 0, which refuses it.
    public func shard(of message: [UInt8]) -> Int {
        guard shards > 1, case .success(let parsed) = SIPParser.parse(message) else { return 0 }
        switch parsed {
        case .response(let response):
            guard let branch = response.headers.topVia?.branch, branch.hasPrefix("z9hG4bK") else { return 0 }
            return index(in: branch.dropFirst(7)) ?? 0
        case .request(let request):
            if let tag = request.headers.toTag { return adopted[tag] ?? index(in: Substring(tag)) ?? 0 }
            // Batches, SERVICE and REGISTER name the user in To, everything else in the Request-URI.
            let isByTo = request.method == .service || request.method == .register || CategoryRequest.isBatch(request.headers)
            let address = isByTo ? request.headers.to?.uri ?? request.uri : request.uri
            return shard(ofKey: identities.identity(of: address).key)
        }
    }

    /// The shard of a presentity's key.
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
