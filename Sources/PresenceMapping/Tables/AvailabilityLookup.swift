/// A first-match table keyed by availability and token, compiled into sorted segments.
///
/// A segment is a range of availabilities with the same candidate rows. A lookup is a binary search and one pass over the candidates,
/// which are one or two in the normative tables.
struct AvailabilityLookup<Outcome: Sendable>: Sendable {
    private struct Candidate: Sendable {
        var token: String?
        var outcome: Int
    }

    private struct Segment: Sendable {
        var lower: Int
        var candidates: [Candidate]
    }

    private var segments: [Segment] = []
    private var outcomes: [Outcome] = []

    init(_ rows: [MappingRow], range column: String = "availability", _ outcome: (MappingRow) -> Outcome) {
        var bounds: Set<Int> = [0]
        for row in rows {
            guard let range = row.range(column) else { continue }
            bounds.insert(range.lower)
            if let upper = range.upper { bounds.insert(upper + 1) }
        }
        outcomes = rows.map(outcome)
        segments = bounds.sorted().map { Segment(lower: $0, candidates: []) }
        for (index, row) in rows.enumerated() {
            let token = row.text("token")
            for position in segments.indices where row.range(column).map({ $0.contains(segments[position].lower) }) ?? true {
                segments[position].candidates.append(Candidate(token: token, outcome: index))
            }
        }
    }

    /// The outcome of the first matching row; nil if there is none, or for a negative number.
    func find(_ number: Int, token: String?) -> Outcome? {
        guard number >= 0 else { return nil }
        var low = 0
        var high = segments.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if segments[middle].lower <= number { low = middle } else { high = middle }
        }
        guard low < segments.count else { return nil }
        for candidate in segments[low].candidates where candidate.token == nil || candidate.token == token {
            return outcomes[candidate.outcome]
        }
        return nil
    }
}
