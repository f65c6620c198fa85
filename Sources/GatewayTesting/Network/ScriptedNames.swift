import SIPCore

/// The Domain Name System as a script writes it, for every station of a simulated network.
public struct ScriptedNames: Sendable {
    /// Of names that are not here it is known that they do not exist.
    public var answers: [NameQuestion: NameAnswer] = [:]
    /// Nobody answers.
    public var isSilent = false
    /// From question to answer.
    public var delay = TimeSpan.milliseconds(20)
    /// Every question that arrived, with its time.
    public private(set) var asked: [(question: NameQuestion, time: Instant)] = []

    public init() {}

    /// SRV records of a name: priority, weight, port and host each.
    public mutating func srv(_ name: String, _ targets: (UInt16, UInt16, UInt16, String)..., timeToLive: Int = 300) {
        let records = targets.map { NameRecord.service(ServiceRecord(priority: $0.0, weight: $0.1, port: $0.2, host: $0.3)) }
        answers[NameQuestion(.srv, name)] = NameAnswer(.records(records), timeToLive: .seconds(timeToLive))
    }

    /// A NAPTR record with the flag `s`.
    public mutating func naptr(_ name: String, _ service: String, to replacement: String, timeToLive: Int = 300) {
        let pointer = NamingPointer(order: 10, preference: 10, flags: "s", service: service, replacement: replacement)
        answers[NameQuestion(.naptr, name)] = NameAnswer(.records([.pointer(pointer)]), timeToLive: .seconds(timeToLive))
    }

    /// The IPv4 addresses of a host; it has none of IPv6.
    public mutating func host(_ name: String, _ addresses: String..., timeToLive: Int = 300) {
        answers[NameQuestion(.a, name)] = NameAnswer(.records(addresses.map { .address($0) }), timeToLive: .seconds(timeToLive))
        answers[NameQuestion(.aaaa, name)] = NameAnswer(.noData, timeToLive: .seconds(timeToLive))
    }

    /// Notes a question; nil: nobody answers.
    mutating func answer(to question: NameQuestion, at now: Instant) -> NameAnswer? {
        asked.append((question, now))
        return isSilent ? nil : answers[question] ?? NameAnswer(.noSuchName, timeToLive: .seconds(60))
    }
}
