import PresenceDocuments

/// Formats times relative to now.
struct RelativeTime {
    let now: DateTime

    /// Past time, such as `12 s ago`.
    func ago(_ moment: DateTime) -> String { span(from: moment, to: now) + " ago" }

    /// Future time, such as `in 59 min`; `now` for a past one.
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
