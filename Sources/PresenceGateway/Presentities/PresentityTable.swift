import EnhancedPresence
import FederationRouting
import SIPCore
import SIPEvents
import UserDirectory

/// The records of hosted presentities and those shown to blocked watchers (``BlockLook``), with their timers.
final class PresentityTable: ShardMember {
    /// Kind of the tickets of records.
    static let ticketKind: UInt8 = 0

    let kernel: GatewayKernel
    let context: ShardContext
    /// Records by ``HostedPresentity/key``.
    private var records: [String: HostedPresentity] = [:]
    /// Records that had a timer, by ticket.
    private var named = Slab<HostedPresentity>()

    init(_ kernel: GatewayKernel, _ context: ShardContext) {
        self.kernel = kernel
        self.context = context
    }

    var count: Int { records.count }
    /// All records, in no particular order.
    var all: Dictionary<String, HostedPresentity>.Values { records.values }
    /// All records by key, so that runs are reproducible.
    var inOrder: [HostedPresentity] { records.values.sorted { $0.key < $1.key } }

    subscript(key: String) -> HostedPresentity? { records[key] }
    subscript(ticket: Ticket) -> HostedPresentity? { named[ticket.key] }

    func contains(_ presentity: HostedPresentity) -> Bool { records[presentity.key] === presentity }

    func insert(_ presentity: HostedPresentity) { records[presentity.key] = presentity }

    /// Removes a record and its timer.
    func remove(_ presentity: HostedPresentity) {
        records[presentity.key] = nil
        guard let ticket = presentity.takeTicket() else { return }
        timers.set(ticket, at: nil)
        named.remove(ticket.key)
    }

    /// Makes a record with the server's publications, without inserting it.
    func make(_ key: String, _ uri: SIPURI, _ look: BlockLook? = nil) -> HostedPresentity {
        let range = configuration.timing.publication
        let record = HostedPresentity(
            owner: key, look: look, uri: uri, side: side(of: uri), policy: configuration.presencePolicy(of: uri),
            expiry: ExpiryPolicy(minimum: range.minimum, standard: range.standard, maximum: range.maximum),
            limits: configuration.limits.composition)
        publishForServer(record)
        return record
    }

    /// The presence model of a presentity's domain.
    func side(of uri: SIPURI) -> DomainSide { configuration.domain(uri.domainKey)?.side ?? .enterprise }

    /// Sets the timer of a record; one that is not in the table gets none.
    func schedule(_ presentity: HostedPresentity) {
        guard contains(presentity) else { return }
        let ticket = presentity.ticket ?? Ticket(.presentities, kind: Self.ticketKind, named.insert(presentity))
        presentity.name(by: ticket)
        timers.set(ticket, at: presentity.nextDeadline)
    }

    /// Marks the presentity's SERVICE publications, or those of a sign-off that blocked watchers see, as changed in the store.
    func keep(_ presentity: HostedPresentity) {
        if let key = presentity.storeKey { keep(key) }
    }

    /// Publishes the user's directory data (MS-PRES 3.2.6.2); unchanged data is left alone.
    @discardableResult
    func publishForServer(_ presentity: HostedPresentity) -> PresentityChange {
        let domain = configuration.domain(presentity.uri.domainKey)
        let isInDirectory = domain.map { $0.hosted && $0.side == .enterprise } ?? false
        let user = isInDirectory ? directory.users?.enabledUser(presentity.owner) : nil
        return presentity.publishByServer(user, at: directory.time(of: presentity.owner))
    }
}

extension GatewayConfiguration {
    /// The limits and categories of the enhanced presence of a user.
    func presencePolicy(of uri: SIPURI) -> EnhancedPresencePolicy {
        var policy = EnhancedPresencePolicy.standard
        policy.registeredCategories?.formUnion(domain(uri.domainKey)?.categories ?? [])
        policy.instanceLimit = limits.publicationsPerPresentity
        policy.roaming = roamingPolicy
        policy.publicationByteLimit = limits.publicationBytes
        policy.categoryByteLimit = limits.categoryBytes
        policy.memberLimit = limits.membersPerUser
        return policy
    }
}
