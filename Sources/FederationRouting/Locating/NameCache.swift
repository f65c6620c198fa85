import SIPCore

/// Answers of the Domain Name System for as long as they hold: those that say what is there, those that say that nothing is (RFC 2308),
/// and for a moment that nobody answered.
///
/// Bounded: where it is full the answer that would end first makes room.
public struct NameCache: Sendable {
    public struct Bounds: Hashable, Sendable {
        /// Answers that are kept.
        public var entries = 10_000
        /// What says less holds for that long, so that a lifetime of 0 does not ask for every message.
        public var shortest: TimeSpan = .seconds(1)
        public var longest: TimeSpan = .seconds(86_400)
        /// Of answers that nothing is there (RFC 2308 5 advises one to three hours at most).
        public var longestAbsence: TimeSpan = .seconds(3_600)
        /// An absence of which nobody said how long it holds.
        public var standardAbsence: TimeSpan = .seconds(60)
        /// How long a failure is remembered (RFC 2308 7.1 allows five minutes).
        public var failure: TimeSpan = .seconds(5)

        public init() {}
    }

    public var bounds: Bounds
    /// Questions that were answered from here, since the start.
    public private(set) var hits: UInt64 = 0
    private var answers: [NameQuestion: (answer: NameAnswer, until: Instant)] = [:]
    private var ends = DeadlineQueue<NameQuestion>()

    public init(bounds: Bounds = Bounds()) { self.bounds = bounds }

    public var count: Int { answers.count }

    /// The answer that holds now, with the time that is left of it; nil: somebody has to be asked.
    public mutating func answer(to question: NameQuestion, at now: Instant) -> NameAnswer? {
        guard let known = answers[question] else { return nil }
        guard now < known.until else {
            forget(question)
            return nil
        }
        hits += 1
        return NameAnswer(known.answer.outcome, timeToLive: known.until - now)
    }

    /// - Returns: the answer with the time for which it is kept here.
    @discardableResult
    public mutating func keep(_ answer: NameAnswer, to question: NameQuestion, at now: Instant) -> NameAnswer {
        let span = lifetime(of: answer)
        let kept = NameAnswer(answer.outcome, timeToLive: span)
        while let ended = ends.popDue(at: now) { answers[ended] = nil }
        if answers[question] == nil, answers.count >= bounds.entries, let first = ends.popDue(at: .init(nanosecondsSince1970: .max)) {
            answers[first] = nil
        }
        guard bounds.entries > 0 else { return kept }
        answers[question] = (kept, now + span)
        ends.set(question, at: now + span)
        return kept
    }

    private mutating func forget(_ question: NameQuestion) {
        answers[question] = nil
        ends.set(question, at: nil)
    }

    private func lifetime(of answer: NameAnswer) -> TimeSpan {
        switch answer.outcome {
        case .failed: return bounds.failure
        case .records, .alias: return min(max(answer.timeToLive ?? bounds.shortest, bounds.shortest), bounds.longest)
        case .noSuchName, .noData:
            return min(max(answer.timeToLive ?? bounds.standardAbsence, bounds.shortest), bounds.longestAbsence)
        }
    }
}
