import FederationRouting
import Registration
import SIPCore
import SIPEvents

/// Finds the shard of a framed message from its octets; pure, so that any event loop may call it.
///
/// Tags of the gateway name the ``Partition`` of a dialog, and branches the shard of a request. Other requests are assigned by the user
/// that they are about, so that all publications and watchers of a hosted presentity meet on one shard; a SUBSCRIBE for presence by
/// a user of a hosted enterprise domain, and one with a list, by the watcher, so that all dialogs of its endpoints are with its
/// registration. A poll leaves no dialog, so it goes to the presentity, and needs no view of another shard.
package struct ShardRouter: Hashable, Sendable {
    /// Number of shards, 1 to 1,296.
    package let shards: Int
    private let identities: IdentityTable
    /// Keys of the hosted enterprise domains.
    private let homes: Set<String>
    private let listServer: String?
    /// List services of users; nil: there are none.
    package var services: ServiceURIs?
    /// Shards of restored dialogs with tags that name another shard.
    private var adopted: [String: Int] = [:]

    /// Creates a router; `shards` is limited to 1 to 1,296.
    /// - Parameters:
    ///   - identities: maps the URIs of one user to one key, so that requests for the user meet on one shard.
    ///   - homes: keys of the hosted enterprise domains.
    ///   - listServer: URI of the list server; nil: there is none.
    package init(shards: Int, identities: IdentityTable = IdentityTable(), homes: Set<String> = [], listServer: SIPURI? = nil) {
        self.identities = identities
        self.homes = homes
        self.listServer = listServer?.aorKey
        self.shards = max(1, min(shards, 36 * 36))
    }

    /// Creates the router of a configuration.
    package init(shards: Int, for configuration: GatewayConfiguration) {
        self.init(
            shards: shards, identities: configuration.identities, homes: configuration.enterpriseHomes, listServer: configuration.listServer
        )
    }

    /// Notes the shards of stored dialogs with tags that do not name the partition of their user, because an earlier version, or another
    /// configuration, created them.
    package mutating func adopt(_ records: some Sequence<StoreRecord>) {
        for record in records { if let dialog = DialogAssignment(record) { _ = adopt(dialog) } }
    }

    /// Notes the shard of a stored dialog if its tag does not name the partition of its user.
    /// - Returns: the number of the partition.
    mutating func adopt(_ dialog: DialogAssignment) -> Int {
        let partition = Partition(ofKey: owner(of: dialog))
        let shard = partition.shard(of: shards)
        adopted[dialog.tag] = shard == index(inTag: dialog.tag) ? nil : shard
        return partition.rawValue
    }

    /// Prefix of every token of a shard: `s` and two digits of base 36; empty if there is only one shard.
    static func prefix(of shard: Int, among shards: Int) -> String {
        guard shards > 1 else { return "" }
        let digits = String(max(0, shard) % (36 * 36), radix: 36)
        return "s" + (digits.utf8.count < 2 ? "0" : "") + digits
    }

    /// Index of the message's shard, from 0. An unreadable request goes to shard 0, which refuses it.
    ///
    /// A request is parsed here and keeps the result for its shard. A response goes by its branch and is left to its shard, which finds
    /// the transactions of most without parsing.
    package func shard(of message: inout InboundMessage) -> Int {
        guard shards > 1 else { return 0 }
        if let branch = SIPParser.branch(ofResponse: message.bytes) { return shard(ofBranch: branch) }
        guard case .success(let parsed) = message.parse() else { return 0 }
        switch parsed {
        case .response(let response):
            return response.headers.topVia?.branch.map(shard(ofBranch:)) ?? 0
        case .request(let request):
            if let tag = request.headers.toTag { return adopted[tag] ?? index(inTag: tag) }
            return shard(ofKey: owner(of: request))
        }
    }

    /// Index of the shard of a user's key.
    package func shard(ofKey key: String) -> Int { Partition(ofKey: key).shard(of: shards) }

    // MARK: owners

    /// Key of the user that a request outside a dialog is assigned by.
    private func owner(of request: SIPRequest) -> String {
        let headers = request.headers
        if request.method == .subscribe, headers.event?.package == EventToken.presence, let from = headers.from?.uri {
            let watcher = identities.identity(of: from)
            // A list service is served where the documents of its owner are.
            if let owner = services?.owner(of: identities.identity(of: request.uri).key) { return owner }
            if request.uri.aorKey == listServer || homes.contains(watcher.uri.domainKey) && !isPollOfHome(request) { return watcher.key }
        }
        // Batches, SERVICE and REGISTER name the user in To, others in the Request-URI.
        let isByTo = request.method == .service || request.method == .register || CategoryRequest.isBatch(headers)
        return identities.identity(of: isByTo ? headers.to?.uri ?? request.uri : request.uri).key
    }

    /// Whether a SUBSCRIBE is a poll of one user of a hosted enterprise domain (MS-PRES 3.4.5.1.2). One with a GRUU as Contact is not,
    /// because the registration of the watcher is needed to notify it. Presentities of other domains may have an upstream subscription
    /// with the dialogs of the watcher.
    private func isPollOfHome(_ request: SIPRequest) -> Bool {
        let headers = request.headers
        guard headers.expires == 0, let contact = headers.contact?.uri, EndpointID(gruu: contact) == nil else { return false }
        return !CategoryRequest.isBatch(headers) && homes.contains(identities.identity(of: request.uri).uri.domainKey)
    }

    /// Key of the user that a stored record is assigned by.
    func owner(of record: StoreRecord) -> String {
        DialogAssignment(record).map { owner(of: $0) } ?? record.key.user ?? ""
    }

    /// Key of the user that a stored dialog or upstream subscription is assigned by. Versions before partitions stored dialogs of hosted
    /// watchers and lists by the presentity.
    private func owner(of dialog: DialogAssignment) -> String {
        (dialog.isList ? key(ofWatcher: dialog.watcher) : homeKey(ofWatcher: dialog.watcher)) ?? dialog.owner
    }

    private func key(ofWatcher uri: String) -> String? { SIPURI(uri).map { identities.identity(of: $0).key } }

    /// The key of a watcher of a hosted enterprise domain; nil: it belongs to another domain.
    private func homeKey(ofWatcher uri: String) -> String? {
        guard !homes.isEmpty, let watcher = SIPURI(uri).map({ identities.identity(of: $0) }) else { return nil }
        return homes.contains(watcher.uri.domainKey) ? watcher.key : nil
    }

    // MARK: tokens

    private func index(inTag tag: String) -> Int {
        Partition(tag: tag)?.shard(of: shards) ?? index(inPrefix: Substring(tag)) ?? 0
    }

    private func shard(ofBranch branch: String) -> Int {
        branch.hasPrefix("z9hG4bK") ? index(inPrefix: branch.dropFirst(7)) ?? 0 : 0
    }

    private func index(inPrefix token: Substring) -> Int? {
        guard token.utf8.first == UInt8(ascii: "s"), token.utf8.count > 3 else { return nil }
        guard let value = Int(token.dropFirst().prefix(2), radix: 36), value < shards else { return nil }
        return value
    }
}
