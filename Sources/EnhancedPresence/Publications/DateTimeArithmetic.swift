import PresenceDocuments

extension DateTime {
    /// Adds seconds; saturates at the limits of the type.
    func adding(seconds: Int64) -> DateTime { adding(seconds, of: 1_000_000_000) }

    func adding(milliseconds: Int64) -> DateTime { adding(milliseconds, of: 1_000_000) }

    private func adding(_ count: Int64, of unit: Int64) -> DateTime {
        let (span, overflow) = count.multipliedReportingOverflow(by: unit)
        let (sum, carry) = nanosecondsSince1970.addingReportingOverflow(span)
        return DateTime(nanosecondsSince1970: overflow || carry ? (count < 0 ? .min : .max) : sum)
    }

    /// The time in the resolution of publishTime: milliseconds (MS-PRES 2.2.2.1).
    var truncatedToMilliseconds: DateTime {
        DateTime(nanosecondsSince1970: nanosecondsSince1970 / 1_000_000 * 1_000_000)
    }

    /// The time in the resolution of lastActive: seconds (MS-PRES 7.2).
    var truncatedToSeconds: DateTime {
        DateTime(nanosecondsSince1970: nanosecondsSince1970 / 1_000_000_000 * 1_000_000_000)
    }

    /// Seconds until a later time, rounded up.
    func wholeSeconds(until later: DateTime) -> Int64 {
        let (span, overflow) = later.nanosecondsSince1970.subtractingReportingOverflow(nanosecondsSince1970)
        guard !overflow else { return .max }
        return span / 1_000_000_000 + (span % 1_000_000_000 > 0 ? 1 : 0)
    }
}
