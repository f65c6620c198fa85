@testable import FederationRouting
import SIPCore

/// A domain as a script writes it, and what it answers.
struct Zone {
    private var answers: [NameQuestion: NameAnswer] = [:]
    /// Every question that was answered from here, in order.
    var asked: [NameQuestion] = []

    mutating func srv(
        _ name: String, _ targets: [(priority: UInt16, weight: UInt16, port: UInt16, host: String)], timeToLive: Int = 300
    ) {
        let records = targets.map {
            NameRecord.service(ServiceRecord(priority: $0.priority, weight: $0.weight, port: $0.port, host: $0.host))
        }
        set(.srv, name, .records(records), timeToLive)
    }

    mutating func naptr(
        _ name: String, _ pointers: [(order: UInt16, preference: UInt16, service: String, to: String)], flags: String = "s"
    ) {
        let records = pointers.map {
            NameRecord.pointer(
                NamingPointer(order: $0.order, preference: $0.preference, flags: flags, service: $0.service, replacement: $0.to))
        }
        set(.naptr, name, .records(records), 300)
    }

    mutating func host(_ name: String, _ addresses: String..., timeToLive: Int = 300) {
        for (kind, list) in [(NameQuestion.Kind.a, addresses.filter { !$0.contains(":") }), (.aaaa, addresses.filter { $0.contains(":") })]
        where !list.isEmpty {
            set(kind, name, .records(list.map { .address($0) }), timeToLive)
        }
    }

    mutating func set(_ kind: NameQuestion.Kind, _ name: String, _ outcome: NameAnswer.Outcome, _ timeToLive: Int? = 300) {
        answers[NameQuestion(kind, name)] = NameAnswer(outcome, timeToLive: timeToLive.map { .seconds($0) })
    }

    /// Runs a locator to its end against the zone.
    mutating func locate(_ hopTarget: HopTarget, prefersIPv6: Bool = false) -> HopLocator.Step {
        var locator = HopLocator(hopTarget, prefersIPv6: prefersIPv6)
        for _ in 0..<20 {
            guard case .ask(let questions) = locator.step() else { break }
            for question in questions {
                asked.append(question)
                locator.receive(answers[question] ?? NameAnswer(.noData, timeToLive: .seconds(60)), to: question)
            }
        }
        return locator.step()
    }

    /// What would be tried, as `tls:192.0.2.1:5061`, or the reason.
    mutating func targets(_ hopTarget: HopTarget, prefersIPv6: Bool = false, seed: UInt64 = 1) -> [String] {
        switch locate(hopTarget, prefersIPv6: prefersIPv6) {
        case .found(let plan):
            var random = TokenGenerator(seed: seed)
            return plan.targets(using: &random).map(\.description)
        case .failed(let failure): return [failure.description]
        case .ask(let questions): return questions.map { "still asks \($0)" }
        }
    }
}
