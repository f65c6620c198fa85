import SIPCore

/// The kernel's own timers.
enum KernelTimer {
    private enum Kind {
        static let lookup: UInt8 = 0
        static let delivery: UInt8 = 1
        static let undeliverable: UInt8 = 2
        static let connectionCleanup: UInt8 = 3
        static let store: UInt8 = 4
    }

    /// Requests without a usable next hop.
    static let undeliverable = Ticket(.kernel, only: Kind.undeliverable)
    /// Remaining cleanup after closed connections.
    static let connectionCleanup = Ticket(.kernel, only: Kind.connectionCleanup)
    /// Next attempt after a failed commit.
    static let store = Ticket(.kernel, only: Kind.store)

    /// Time limit of one lookup.
    static func lookup(_ key: SlabKey) -> Ticket { Ticket(.kernel, kind: Kind.lookup, key) }
    static func isLookup(_ ticket: Ticket) -> Bool { ticket.flow == .kernel && ticket.kind == Kind.lookup }

    /// Time limit of one server in a delivery.
    static func delivery(_ transaction: ClientTransactionID) -> Ticket {
        Ticket(.kernel, kind: Kind.delivery, number: transaction.rawValue)
    }
    static func isDelivery(_ ticket: Ticket) -> Bool { ticket.flow == .kernel && ticket.kind == Kind.delivery }
}
