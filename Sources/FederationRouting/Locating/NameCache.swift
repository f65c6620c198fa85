import SIPCore

/// Cache of DNS answers within their lifetimes: positive answers, negative answers (RFC 2308), and for a short time
/// failures.
///
/// Bounded: when full, the answer that expires first is removed.
public struct NameCache: Sendable {
    /// Limits of a cache.
    public struct Bounds: Hashable, Sendable {
        /// Largest number of answers; 0 disables the cache.
        public var entries = 10_000
        /// Shortest lifetime; raises lower ones, so that a lifetime of 0 does not cause a question per message.
        public var shortest: TimeSpan = .seconds(1)
        /// Longest lifetime of a positive answer.
        public var longest: TimeSpan = .seconds(86_400)
        /// Longest lifetime of a negative answer (RFC 2308 5 advises one to three hours at most).
        public var longestAbsence: TimeSpan = .seconds(3_600)
        /// Lifetime of a negative answer without a SOA record.
        public var standardAbsence: TimeSpan = .seconds(60)
        /// Lifetime of a failure (RFC 2308 7.1 allows five minutes).
        public var failure: TimeSpan = .seconds(5)

        /// Creates the default limits: 10,000 answers, 1 s to 1 day, negative answers up to 1 h, failures 5 s.
        public init() {}
    }

    /// The limits; a change applies to answers stored later.
    public private(set) var bounds: Bounds
    /// Number of questions answered from the cache since its creation.
    public private(set) var hits: UInt64 = 0
    private var answers: [NameQuestion: (answer: NameAnswer, until: Instant)] = [:]
    private var ends = DeadlineQueue<NameQuestion>()

    /// Creates an empty cache.
    public init(bounds: Bounds = Bounds()) { self.bounds = bounds }

    /// Applies other limits to later answers.
    public mutating func use(_ bounds: Bounds) { self.bounds = bounds }

    /// Number of stored answers, expired ones included.
    public var count: Int { answers.count }

    /// The stored answer with its remaining lifetime; nil if there is none or it has expired.
    public mutating func answer(to question: NameQuestion, at now: Instant) -> NameAnswer? {
        guard let known = answers[question] else { return nil }
        guard now < known.until else {
            forget(question)
            return nil
        }
        hits += 1
        return NameAnswer(known.answer.outcome, timeToLive: known.until - now)
    }

    /// Stores an answer, with its lifetime adjusted to ``bounds``.
    /// - Returns: the answer with the adjusted lifetime.
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
