/// Point in time of a document (RFC 3339, XML Schema part 2 3.2.7), with the text that it was read from.
///
/// Values are equal if they are the same moment, whatever their text. A missing zone, as in MS-PRES 2.2.2.1, means UTC. Fraction
/// digits beyond nanoseconds are dropped.
public struct DateTime: Hashable, Comparable, Sendable {
    /// Nanoseconds since 1970-01-01T00:00:00Z; parsed years are 1678 to 2261.
    public let nanosecondsSince1970: Int64
    /// Text as received; nil if the value was not parsed.
    public let original: String?

    /// Creates a moment without original text.
    public init(nanosecondsSince1970: Int64) {
        self.nanosecondsSince1970 = nanosecondsSince1970
        original = nil
    }

    /// Parses `YYYY-MM-DDThh:mm:ss[.f+][Z|+hh:mm|-hh:mm]`, years 1678 to 2261; nil for anything else.
    public init?(_ text: String) {
        var text = text
        guard let value = text.withUTF8({ DateTime.parse($0) }) else { return nil }
        nanosecondsSince1970 = value
        original = text
    }

    /// Same as ``init(_:)-(String)``, from bytes.
    public init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let value = DateTime.parse(bytes) else { return nil }
        nanosecondsSince1970 = value
        original = String(decoding: bytes, as: UTF8.self)
    }

    /// Same as ``init(_:)-(String)``, but a year outside 1678 to 2261 becomes the first or last moment that this type can express.
    ///
    /// Ends of validity in the year 9999 mean no end.
    init?(clamping text: String) {
        if let parsed = DateTime(text) {
            self = parsed
            return
        }
        let trimmed = text.trimmed
        // 2000 has all days that any year has.
        guard let year = Int(trimmed.prefix(4)), year >= 0, !(1678...2261).contains(year), DateTime("2000" + trimmed.dropFirst(4)) != nil
        else { return nil }
        nanosecondsSince1970 = year < 1678 ? .min : .max
        original = trimmed
    }

    public static func == (left: DateTime, right: DateTime) -> Bool { left.nanosecondsSince1970 == right.nanosecondsSince1970 }
    public static func < (left: DateTime, right: DateTime) -> Bool { left.nanosecondsSince1970 < right.nanosecondsSince1970 }
    public func hash(into hasher: inout Hasher) { hasher.combine(nanosecondsSince1970) }

    /// Text as received, else the shortest RFC 3339 form in UTC.
    public var text: String { original ?? rfc3339() }

    /// Formats the moment as `2026-11-22T10:13:00Z`, in UTC.
    ///
    /// - Parameter fractionDigits: 0 to 9 fraction digits; nil for as many groups of three as are needed.
    public func rfc3339(fractionDigits: Int? = nil) -> String { format(fractionDigits: fractionDigits, zone: true) }

    /// Form of publishTime (MS-PRES 2.2.2.1): UTC, three fraction digits, no zone letter.
    public var publishTime: String { format(fractionDigits: 3, zone: false) }

    /// Form of lastActive (MS-PRES 7.2): UTC, whole seconds, no zone letter.
    public var lastActive: String { format(fractionDigits: 0, zone: false) }

    // MARK: implementation

    private static func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
        var low = 0
        var high = bytes.count
        while low < high, bytes[low] <= 0x20 { low += 1 }
        while high > low, bytes[high - 1] <= 0x20 { high -= 1 }
        guard high - low >= 19, high - low <= 64 else { return nil }
        func number(_ offset: Int, _ count: Int) -> Int? {
            var value = 0
            for index in low + offset..<low + offset + count {
                guard index < high, bytes[index] >= 0x30, bytes[index] <= 0x39 else { return nil }
                value = value * 10 + Int(bytes[index] - 0x30)
            }
            return value
        }
        func has(_ character: UInt8, _ offset: Int) -> Bool { bytes[low + offset] == character }
        let dash = UInt8(ascii: "-")
        let colon = UInt8(ascii: ":")
        guard has(dash, 4), has(dash, 7), has(UInt8(ascii: "T"), 10) || has(UInt8(ascii: "t"), 10), has(colon, 13), has(colon, 16),
            let year = number(0, 4), let month = number(5, 2), let day = number(8, 2), let hour = number(11, 2), let minute = number(14, 2),
            let second = number(17, 2)
        else { return nil }
        guard (1678...2261).contains(year), (1...12).contains(month), day >= 1, day <= daysIn(month, year), hour <= 24, minute <= 59,
            second <= 60,
            hour < 24 || (minute == 0 && second == 0)
        else { return nil }
        var at = low + 19
        var nanoseconds = 0
        if at < high, bytes[at] == UInt8(ascii: ".") {
            at += 1
            let first = at
            var scale = 100_000_000
            while at < high, bytes[at] >= 0x30, bytes[at] <= 0x39 {
                nanoseconds += Int(bytes[at] - 0x30) * scale
                scale /= 10
                at += 1
            }
            guard at > first else { return nil }
        }
        var offset = 0
        if at < high {
            switch bytes[at] {
            case UInt8(ascii: "Z"), UInt8(ascii: "z"):
                at += 1
            case UInt8(ascii: "+"), dash:
                guard high - at == 6, bytes[at + 3] == colon, let hours = number(at - low + 1, 2), let minutes = number(at - low + 4, 2),
                    hours <= 14, minutes <= 59
                else { return nil }
                offset = (hours * 60 + minutes) * (bytes[at] == dash ? -60 : 60)
                at += 6
            default: return nil
            }
        }
        guard at == high else { return nil }
        let seconds = daysSince1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset
        return Int64(seconds) * 1_000_000_000 + Int64(nanoseconds)
    }

    private func format(fractionDigits: Int?, zone: Bool) -> String {
        var (seconds, nanoseconds) = nanosecondsSince1970.quotientAndRemainder(dividingBy: 1_000_000_000)
        if nanoseconds < 0 {
            nanoseconds += 1_000_000_000
            seconds -= 1
        }
        var days = Int(seconds / 86_400)
        var rest = Int(seconds % 86_400)
        if rest < 0 {
            rest += 86_400
            days -= 1
        }
        let (year, month, day) = Self.civil(days)
        let digits = min(
            max(fractionDigits ?? (nanoseconds == 0 ? 0 : nanoseconds % 1_000_000 == 0 ? 3 : nanoseconds % 1_000 == 0 ? 6 : 9), 0), 9)
        return String(unsafeUninitializedCapacity: 32) { buffer in
            var at = 0
            func put(_ value: Int, _ width: Int) {
                var value = value
                for index in stride(from: at + width - 1, through: at, by: -1) {
                    buffer[index] = UInt8(0x30 + value % 10)
                    value /= 10
                }
                at += width
            }
            func put(_ character: UInt8) {
                buffer[at] = character
                at += 1
            }
            put(year, 4)
            put(UInt8(ascii: "-"))
            put(month, 2)
            put(UInt8(ascii: "-"))
            put(day, 2)
            put(UInt8(ascii: "T"))
            put(rest / 3_600, 2)
            put(UInt8(ascii: ":"))
            put(rest / 60 % 60, 2)
            put(UInt8(ascii: ":"))
            put(rest % 60, 2)
            if digits > 0 {
                put(UInt8(ascii: "."))
                var fraction = Int(nanoseconds)
                for _ in digits..<9 { fraction /= 10 }
                put(fraction, digits)
            }
            if zone { put(UInt8(ascii: "Z")) }
            return at
        }
    }

    private static func daysIn(_ month: Int, _ year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    /// Days of the proleptic Gregorian calendar, with years that begin in March.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ days: Int) -> (Int, Int, Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }
}
