import PresenceGateway
import SIPCore

/// What the Domain Name System says to a bench.
struct BenchNames {
    var answers: [NameQuestion: NameAnswer] = [:]
    /// Of these nobody answers; of all others that have no answer it is known that they do not exist.
    var silent: Set<NameQuestion> = []

    mutating func srv(_ name: String, _ port: UInt16, _ host: String, timeToLive: Int = 86_400) {
        let record = ServiceRecord(priority: 10, weight: 0, port: port, host: host)
        answers[NameQuestion(.srv, name)] = NameAnswer(.records([.service(record)]), timeToLive: .seconds(timeToLive))
    }

    mutating func host(_ name: String, _ address: String, timeToLive: Int = 86_400) {
        answers[NameQuestion(.a, name)] = NameAnswer(.records([.address(address)]), timeToLive: .seconds(timeToLive))
        answers[NameQuestion(.aaaa, name)] = NameAnswer(.noData, timeToLive: .seconds(timeToLive))
    }
}

extension Bench {
    /// Answers all that is asked, until nothing more is.
    /// - Returns: what was asked.
    @discardableResult
    func resolve(_ names: BenchNames) -> [NameQuestion] {
        var asked: [NameQuestion] = []
        while true {
            let questions = gateway.takeQuestions()
            guard !questions.isEmpty else { return asked }
            asked += questions
            for question in questions where !names.silent.contains(question) {
                gateway.receive(
                    .answered(question, names.answers[question] ?? NameAnswer(.noSuchName, timeToLive: .seconds(60))), at: now)
            }
            sort()
        }
    }

    /// Moves the clock while all that is asked is answered within five seconds.
    /// - Returns: what was asked.
    @discardableResult
    func pass(_ span: TimeSpan, resolving names: BenchNames) -> [NameQuestion] {
        let end = now + span
        var asked = resolve(names)
        while now < end {
            pass(min(.seconds(5), end - now))
            asked += resolve(names)
        }
        return asked
    }
}
