import PresenceDocuments

/// Moments as an operator reads them.
struct RelativeTime {
    let now: DateTime

    /// `12 s ago`.
    func ago(_ moment: DateTime) -> String { span(from: moment, to: now) + " ago" }

    /// `in 59 min`; for what is over, `now`.
    func ahead(_ moment: DateTime) -> String { moment <= now ? "now" : "in " + span(from: now, to: moment) }

    private func span(from start: DateTime, to end: DateTime) -> String {
        let seconds = max(0, (end.nanosecondsSince1970 - start.nanosecondsSince1970) / 1_000_000_000)
        switch seconds {
        case ..<120: return "\(seconds) s"
        case ..<7_200: return "\(seconds / 60) min"
        case ..<172_800: return "\(seconds / 3_600) h"
        default: return "\(seconds / 86_400) days"
        }
    }
}
