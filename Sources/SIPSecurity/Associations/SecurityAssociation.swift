import SIPCore

/// What a client and this server share after a handshake has succeeded (MS-SIPAE 3.1.1): keys for signing both ways.
struct SecurityAssociation: Sendable {
    /// What the handshake proved.
    enum Proof: Sendable {
        /// A password: whom the client signed in as, and the account as it was then.
        case password(LoginName, Account)
        /// The key of a certificate.
        case certificate
    }

    /// `opaque` on the wire: the association's name.
    var id: String
    /// The key of the user's address of record.
    var identity: String
    var proof: Proof
    /// The endpoint (From parameter epid); empty if the client gave none.
    var endpoint: String
    var targetName: String
    /// The protocol version of the client, 2 to 4: decides what is signed.
    var version: Int
    var keys: SigningKeys
    var expiry: Instant
}

/// Where a client is: an association's server messages go there.
struct ClientFlow: Hashable, Sendable {
    var identity: String
    var connection: ConnectionID?
    /// For datagrams.
    var remote: TransportAddress?

    init(identity: String, connection: ConnectionID?, remote: TransportAddress?) {
        self.identity = identity
        self.connection = connection
        self.remote = connection == nil ? remote : nil
    }
}

/// All security associations; each ends after its lifetime (8 hours, MS-SIPAE 3.2.2), and a user's oldest makes room for his newest.
struct AssociationTable: Sendable {
    struct Entry: Sendable {
        var association: SecurityAssociation
        var window = ReplayWindow()
        var lastServerNumber: UInt32 = 0
        var flow: ClientFlow?
        /// Whether the client speaks Proxy-Authorization, and so wants to hear Proxy-Authentication-Info.
        var isProxy = false
    }

    let limit: Int
    let limitPerUser: Int
    private var entries: [String: Entry] = [:]
    private var ofUser: [String: [String]] = [:]
    private var ofFlow: [ClientFlow: String] = [:]
    private var order = ExpiryOrder()
    /// Handshakes that made an association: never again, even when it is gone.
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

    /// - Parameters:
    ///   - flow: where the client is; nil: nothing is sent to it under the association before it has been heard.
    ///   - spentUntil: when the handshake that made it can no longer come back.
    /// - Returns: false if the table is full; nothing has changed then.
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

    /// Takes a client's number in and notes where it was heard last; false if the number was used or the association is gone.
    mutating func accept(_ id: String, number: UInt32, flow: ClientFlow, isProxy: Bool) -> Bool {
        guard entries[id]?.window.accept(number) == true else { return false }
        entries[id]?.isProxy = isProxy
        move(id, to: flow)
        return true
    }

    /// The association's user is gone, or has another password.
    mutating func end(_ id: String) { remove(id) }

    /// The association's next server number.
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
