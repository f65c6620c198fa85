import SIPCore

/// The shared state of a client and this server after a handshake: identity and signing keys (MS-SIPAE 3.1.1).
struct SecurityAssociation: Sendable {
    /// The evidence of the handshake.
    enum Proof: Sendable {
        /// A password: the login name, and the account at that time.
        case password(LoginName, Account)
        /// The private key of a certificate.
        case certificate
    }

    /// The name of the association: `opaque` in headers.
    var id: String
    /// The `aorKey` of the user.
    var identity: String
    var proof: Proof
    /// The endpoint (`epid` of From); empty if absent.
    var endpoint: String
    var targetName: String
    /// Protocol version of the client, 2 to 4; decides which items are signed.
    var version: Int
    var keys: SigningKeys
    var expiry: Instant
}

/// The connection or remote address of a client; messages of the server to it are signed under its association.
struct ClientFlow: Hashable, Sendable {
    var identity: String
    var connection: ConnectionID?
    /// The remote address for UDP; nil for connections.
    var remote: TransportAddress?

    init(identity: String, connection: ConnectionID?, remote: TransportAddress?) {
        self.identity = identity
        self.connection = connection
        self.remote = connection == nil ? remote : nil
    }
}

/// All security associations; each ends after its lifetime (8 hours, MS-SIPAE 3.2.2). At the limit per user, a new one replaces the
/// user's oldest.
struct AssociationTable: Sendable {
    struct Entry: Sendable {
        var association: SecurityAssociation
        var window = ReplayWindow()
        var lastServerNumber: UInt32 = 0
        var flow: ClientFlow?
        /// Whether the client uses Proxy-Authorization, and responses need Proxy-Authentication-Info.
        var isProxy = false
    }

    let limit: Int
    let limitPerUser: Int
    private var entries: [String: Entry] = [:]
    private var ofUser: [String: [String]] = [:]
    private var ofFlow: [ClientFlow: String] = [:]
    private var order = ExpiryOrder()
    /// Handshakes that already created an association, which must not be replayed even after it has ended.
    private var spent: [String: Instant] = [:]
    private var spentOrder = ExpiryOrder()

    init(limit: Int, limitPerUser: Int) {
        self.limit = limit
        self.limitPerUser = max(1, limitPerUser)
    }

    var count: Int { entries.count }
    var spentCount: Int { spent.count }

    mutating func sweep(at now: Instant) {
        while let id = order.popDue(at: now) { remove(id) }
        while let id = spentOrder.popDue(at: now) { spent[id] = nil }
    }

    subscript(id: String) -> Entry? { entries[id] }

    func isSpent(_ id: String) -> Bool { spent[id] != nil }

    /// Adds an association.
    /// - Parameters:
    ///   - flow: connection or address of the client; nil: unknown until its first signed request.
    ///   - spentUntil: time until which the handshake could be replayed.
    /// - Returns: false, with no change, if the table is full.
    mutating func insert(_ association: SecurityAssociation, flow: ClientFlow?, spentUntil: Instant, at now: Instant) -> Bool {
        guard entries.count < limit, spent.count < limit else { return false }
        if let own = ofUser[association.identity], own.count >= limitPerUser { remove(own[0]) }
        entries[association.id] = Entry(association: association)
        ofUser[association.identity, default: []].append(association.id)
        order.append(association.id, made: now, until: association.expiry)
        spent[association.id] = spentUntil
        spentOrder.append(association.id, made: now, until: spentUntil)
        if let flow { move(association.id, to: flow) }
        return true
    }

    /// Marks a client's number as used and updates its connection or address; false if the number was used or the association has
    /// ended.
    mutating func accept(_ id: String, number: UInt32, flow: ClientFlow, isProxy: Bool) -> Bool {
        guard entries[id]?.window.accept(number) == true else { return false }
        entries[id]?.isProxy = isProxy
        move(id, to: flow)
        return true
    }

    /// Ends an association because the user no longer exists, or has another password.
    mutating func end(_ id: String) { remove(id) }

    /// Draws the next server number of an association; nil if it has ended.
    mutating func nextServerNumber(_ id: String) -> UInt32? {
        guard entries[id] != nil else { return nil }
        entries[id]?.lastServerNumber &+= 1
        return entries[id]?.lastServerNumber
    }

    func association(at flow: ClientFlow) -> String? { ofFlow[flow] }

    private mutating func move(_ id: String, to flow: ClientFlow) {
        guard let old = entries[id]?.flow, old == flow, ofFlow[flow] == id else {
            if let old = entries[id]?.flow, ofFlow[old] == id { ofFlow[old] = nil }
            entries[id]?.flow = flow
            ofFlow[flow] = id
            return
        }
    }

    private mutating func remove(_ id: String) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        if let flow = entry.flow, ofFlow[flow] == id { ofFlow[flow] = nil }
        let identity = entry.association.identity
        ofUser[identity]?.removeAll { $0 == id }
        if ofUser[identity]?.isEmpty == true { ofUser[identity] = nil }
        if order.count > entries.count * 2 + 1_024 {
            let live = entries
            order.keep { live[$0] != nil }
        }
    }
}
