import SIPCore

/// A relayed publication, as its table and the kernel know it.
protocol RelayedPublication: AnyObject {
    /// The user's `aorKey`.
    var key: String { get }
    /// The user's URI.
    var uri: SIPURI { get }
    /// Names the publication to the kernel; nil: it has no timer and sent no request.
    var ticket: Ticket? { get }
    /// Number of the newest request; responses to earlier ones are ignored.
    var attempt: UInt64 { get }
    var dialogContext: DialogContext { get }
    /// Whether nothing is published, and nothing remains to be removed at the user's domain.
    var isIdle: Bool { get }
    var nextDeadline: Instant? { get }

    /// Takes the name by which the kernel knows the publication; nil: the kernel forgot it.
    func name(_ ticket: Ticket?)
    /// Numbers a request that is repeated with credentials or after a redirection.
    func nextNumber() -> UInt32
    /// Notes the Request-URIs that redirected the newest request.
    func noteRedirections(_ visited: Set<String>)
}

extension PIDFBridge: RelayedPublication {}
extension CategoryBridge: RelayedPublication {}

/// Relayed publications of one kind, by user and by ticket.
final class BridgeTable<Bridge: RelayedPublication> {
    private var byKey: [String: Bridge] = [:]
    /// The bridges that had a timer or a request.
    private var byTicket = Slab<Bridge>()
    private let kind: UInt8

    /// - Parameter kind: kind of the tickets.
    init(kind: UInt8) {
        self.kind = kind
    }

    var count: Int { byKey.count }

    /// Keys of the users.
    var keys: Dictionary<String, Bridge>.Keys { byKey.keys }

    var bridges: Dictionary<String, Bridge>.Values { byKey.values }

    /// In the order of their keys.
    var inOrder: [Bridge] { byKey.values.sorted { $0.key < $1.key } }

    subscript(key: String) -> Bridge? { byKey[key] }

    subscript(ticket: Ticket) -> Bridge? { ticket.kind == kind ? byTicket[ticket.key] : nil }

    func contains(_ bridge: Bridge) -> Bool { byKey[bridge.key] === bridge }

    func insert(_ bridge: Bridge) { byKey[bridge.key] = bridge }

    /// Removes a bridge; its ticket stays valid until ``forget(_:)``.
    func remove(_ bridge: Bridge) { byKey[bridge.key] = nil }

    /// The ticket of a bridge, made on first use.
    func ticket(of bridge: Bridge) -> Ticket {
        if let ticket = bridge.ticket { return ticket }
        let ticket = Ticket(.publications, kind: kind, byTicket.insert(bridge))
        bridge.name(ticket)
        return ticket
    }

    /// Ends the ticket of a bridge.
    /// - Returns: the ticket, if there was one.
    func forget(_ bridge: Bridge) -> Ticket? {
        guard let ticket = bridge.ticket else { return nil }
        bridge.name(nil)
        byTicket.remove(ticket.key)
        return ticket
    }
}
