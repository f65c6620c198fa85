import SIPCore

/// The last BENOTIFY of each dialog, by its token in the transport; at most one per dialog.
struct UnansweredNotifications {
    struct Sent {
        let origin: RequestOrigin
        let connection: ConnectionID?
        /// The chosen server; nil: the address was given.
        let target: TransportAddress?
    }

    private var byToken: [UInt64: Sent] = [:]
    private var byTicket: [Ticket: UInt64] = [:]
    private var last: UInt64 = 0

    var count: Int { byToken.count }

    /// - Returns: token for sending it.
    mutating func add(_ sent: Sent) -> UInt64 {
        forget(sent.origin.ticket)
        last = (last &+ 1) & (TransactionLayer.unansweredMark - 1)
        let token = TransactionLayer.unansweredMark | last
        byToken[token] = sent
        byTicket[sent.origin.ticket] = token
        return token
    }

    mutating func take(_ token: UInt64) -> Sent? {
        guard token & TransactionLayer.unansweredMark != 0, let sent = byToken.removeValue(forKey: token) else { return nil }
        byTicket[sent.origin.ticket] = nil
        return sent
    }

    mutating func forget(_ ticket: Ticket) {
        if let token = byTicket.removeValue(forKey: ticket) { byToken[token] = nil }
    }
}
