import PresenceDocuments

/// Formats times relative to now.
package struct RelativeTime {
    package let now: DateTime

    /// Creates a formatter.
    package init(now: DateTime) { self.now = now }

    /// Past time, such as `12 s ago`.
    package func ago(_ moment: DateTime) -> String { span(from: moment, to: now) + " ago" }

    /// Future time, such as `in 59 min`; `now` for a past one.
    package func ahead(_ moment: DateTime) -> String { moment <= now ? "now" : "in " + span(from: now, to: moment) }

    private func span(from start: DateTime, to end: DateTime) -> String {
        Self.span(of: Int(max(0, (end.nanosecondsSince1970 - start.nanosecondsSince1970) / 1_000_000_000)))
    }

    /// A number of seconds in the unit that suits it, such as `12 s`.
    static func span(of seconds: Int) -> String {
        switch seconds {
        case ..<120: return "\(seconds) s"
        case ..<7_200: return "\(seconds / 60) min"
        case ..<172_800: return "\(seconds / 3_600) h"
        default: return "\(seconds / 86_400) days"
        }
    }
}
