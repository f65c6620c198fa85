import SIPCore

/// A time in the form of the Date header (RFC 3261 20.17): `Sat, 13 Nov 2010 23:29:00 GMT`. Required in challenges (MS-SIPAE 3.3.5).
enum HeaderDate {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    static func text(_ moment: Instant) -> String {
        let seconds = max(0, moment.secondsSince1970)
        let day = seconds / 86_400
        let time = seconds % 86_400
        var year = 1970
        var rest = Int(day)
        while rest >= length(of: year) {
            rest -= length(of: year)
            year += 1
        }
        var month = 0
        let lengths = [31, length(of: year) == 366 ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        while rest >= lengths[month] {
            rest -= lengths[month]
            month += 1
        }
        let clock = [time / 3_600, time / 60 % 60, time % 60].map { two(Int($0)) }.joined(separator: ":")
        return "\(weekdays[Int(day % 7)]), \(two(rest + 1)) \(months[month]) \(year) \(clock) GMT"
    }

    private static func length(of year: Int) -> Int {
        (year.isMultiple(of: 4) && !year.isMultiple(of: 100)) || year.isMultiple(of: 400) ? 366 : 365
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
