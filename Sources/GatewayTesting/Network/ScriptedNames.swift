import SIPCore

/// Scripted DNS answers for all stations of a simulated network.
package struct ScriptedNames: Sendable {
    /// Answers by question; other questions get NXDOMAIN.
    package var answers: [NameQuestion: NameAnswer] = [:]
    /// Whether all questions stay unanswered.
    package var isSilent = false
    /// Time from question to answer.
    package var delay = TimeSpan.milliseconds(20)
    /// All received questions with their times, in order.
    package private(set) var asked: [(question: NameQuestion, time: Instant)] = []

    /// Creates an empty set: every name is unknown.
    package init() {}

    /// Adds SRV records of a name: priority, weight, port and host each.
    package mutating func srv(_ name: String, _ targets: (UInt16, UInt16, UInt16, String)..., timeToLive: Int = 300) {
        let records = targets.map { NameRecord.service(ServiceRecord(priority: $0.0, weight: $0.1, port: $0.2, host: $0.3)) }
        answers[NameQuestion(.srv, name)] = NameAnswer(.records(records), timeToLive: .seconds(timeToLive))
    }

    /// Adds a NAPTR record with the flag `s`, order 10 and preference 10.
    package mutating func naptr(_ name: String, _ service: String, to replacement: String, timeToLive: Int = 300) {
        let pointer = NamingPointer(order: 10, preference: 10, flags: "s", service: service, replacement: replacement)
        answers[NameQuestion(.naptr, name)] = NameAnswer(.records([.pointer(pointer)]), timeToLive: .seconds(timeToLive))
    }

    /// Adds the IPv4 addresses of a host; its AAAA question gets no data.
    package mutating func host(_ name: String, _ addresses: String..., timeToLive: Int = 300) {
        answers[NameQuestion(.a, name)] = NameAnswer(.records(addresses.map { .address($0) }), timeToLive: .seconds(timeToLive))
        answers[NameQuestion(.aaaa, name)] = NameAnswer(.noData, timeToLive: .seconds(timeToLive))
    }

    /// Records a question and returns its answer; nil while silent.
    mutating func answer(to question: NameQuestion, at now: Instant) -> NameAnswer? {
        asked.append((question, now))
        return isSilent ? nil : answers[question] ?? NameAnswer(.noSuchName, timeToLive: .seconds(60))
    }
}
