/// Events at the remote domain of an upstream subscription since it was last handled.
struct RemoteDomainEvents: OptionSet, Hashable {
    let rawValue: UInt8

    /// The remote domain may have lost the subscription.
    static let doubted = RemoteDomainEvents(rawValue: 1)
    /// The partner is down: `when-lost` applies.
    static let partnerDown = RemoteDomainEvents(rawValue: 2)
    /// The partner is up again: a lost subscription is restarted.
    static let partnerUp = RemoteDomainEvents(rawValue: 4)
    /// The server that accepted the subscription does not answer OPTIONS.
    static let serverDown = RemoteDomainEvents(rawValue: 8)
    /// The remote domain may have lost the subscription; another one is refreshed as a sample.
    static let sampled = RemoteDomainEvents(rawValue: 16)
    /// The refresh of the sample was accepted.
    static let sampleAccepted = RemoteDomainEvents(rawValue: 32)

    private static let opposites: [(RemoteDomainEvents, RemoteDomainEvents)] = [(.partnerDown, .partnerUp), (.sampled, .sampleAccepted)]

    /// Adds a later event, which cancels its opposite.
    mutating func add(_ later: RemoteDomainEvents) {
        for (one, other) in Self.opposites {
            if later.contains(one) { remove(other) }
            if later.contains(other) { remove(one) }
        }
        formUnion(later)
    }
}

/// Queue of upstream subscriptions with events to handle, each once, in the order of their first event.
struct DoubtQueue {
    private var events: [UInt64: RemoteDomainEvents] = [:]
    private var order: ArraySlice<UInt64> = []

    var count: Int { events.count }
    var isEmpty: Bool { events.isEmpty }

    mutating func add(_ event: RemoteDomainEvents, to number: UInt64) {
        if events[number] == nil { order.append(number) }
        events[number, default: []].add(event)
    }

    mutating func take(_ most: Int) -> [(number: UInt64, events: RemoteDomainEvents)] {
        let part = order.prefix(most)
        order = order.dropFirst(part.count)
        if order.isEmpty { order = [] }
        return part.compactMap { number in events.removeValue(forKey: number).map { (number: number, events: $0) } }
    }
}
