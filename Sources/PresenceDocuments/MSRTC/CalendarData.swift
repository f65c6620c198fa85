// MS-PRES 2.2.2.7.8 and 7.8: the `calendarData` category, also the body of `workingHours`.

import XMLCore

/// Free/busy slots of a mailbox (MS-PRES 2.2.2.7.8); the bit stream is not interpreted here.
public struct FreeBusy: Hashable, Sendable {
    /// Start of the first slot, in UTC.
    public var startTime: DateTime
    /// Length of a slot as an ISO 8601 duration, `PT15M` in practice.
    public var granularity: String
    /// Version of the encoding as written, `1` in practice.
    public var encodingVersion: String
    /// Bit stream, decoded from base64.
    public var slots: [UInt8]
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]

    /// Creates slots; by default of 15 minutes, in version 1 of the encoding.
    public init(
        startTime: DateTime, granularity: String = "PT15M", encodingVersion: String = "1", slots: [UInt8],
        attributes: [XMLAttribute] = []
    ) {
        self.startTime = startTime
        self.granularity = granularity
        self.encodingVersion = encodingVersion
        self.slots = slots
        self.attributes = attributes
    }
}

/// Change of a time zone to standard or daylight time (MS-PRES 7.8 `SerializableTimeZoneTime`).
public struct TimeZoneChange: Hashable, Sendable {
    /// Minutes added to the bias of the zone.
    public var bias: Int32
    /// Local time of the change, such as `02:00:00`.
    public var time: String
    /// Occurrence of the weekday in the month; 5 is the last.
    public var dayOrder: Int16
    /// Month, 1 to 12; 0 if the zone does not change.
    public var month: Int16
    /// Weekday of the change, as written.
    public var dayOfWeek: String

    public init(bias: Int32, time: String, dayOrder: Int16, month: Int16, dayOfWeek: String) {
        self.bias = bias
        self.time = time
        self.dayOrder = dayOrder
        self.month = month
        self.dayOfWeek = dayOfWeek
    }
}

/// Working time on some days of the week (MS-PRES 7.8 `WorkingPeriod`).
public struct WorkingPeriod: Hashable, Sendable {
    /// Days: `Sunday` to `Saturday`, `Day`, `Weekday` or `WeekendDay`.
    public var daysOfWeek: [String]
    /// Start, in minutes after local midnight.
    public var startTimeInMinutes: Int32
    /// End, in minutes after local midnight.
    public var endTimeInMinutes: Int32

    public init(daysOfWeek: [String], startTimeInMinutes: Int32, endTimeInMinutes: Int32) {
        self.daysOfWeek = daysOfWeek
        self.startTimeInMinutes = startTimeInMinutes
        self.endTimeInMinutes = endTimeInMinutes
    }
}

/// Time zone and working periods of a user (MS-PRES 7.8).
public struct WorkingHours: Hashable, Sendable {
    /// Bias: UTC minus local time, in minutes.
    public var bias: Int32
    /// Change to standard time; nil when absent.
    public var standardTime: TimeZoneChange?
    /// Change to daylight time; nil when absent.
    public var daylightTime: TimeZoneChange?
    /// Working periods in document order.
    public var periods: [WorkingPeriod]
    /// Elements without a field here; kept and written again.
    public var extensions: [XMLFragment]

    /// Creates working hours; by default without time zone changes and periods.
    public init(
        bias: Int32, standardTime: TimeZoneChange? = nil, daylightTime: TimeZoneChange? = nil, periods: [WorkingPeriod] = [],
        extensions: [XMLFragment] = []
    ) {
        self.bias = bias
        self.standardTime = standardTime
        self.daylightTime = daylightTime
        self.periods = periods
        self.extensions = extensions
    }
}

/// Calendar of a user: working hours or free/busy slots, not both (MS-PRES 2.2.2.7.8).
public struct CalendarDataDocument: Hashable, Sendable {
    /// Content of a calendar.
    public enum Content: Hashable, Sendable {
        case workingHours(WorkingHours)
        case freeBusy(FreeBusy)
    }

    /// Mailbox; required by the schema, absent in practice if the calendar is empty.
    public var mailboxID: String?
    /// Working hours or free/busy slots; nil if the calendar is empty.
    public var content: Content?
    /// Major schema version as written; nil when absent.
    public var majorVersion: UInt32?
    /// Minor schema version as written; nil when absent.
    public var minorVersion: UInt32?
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]
    /// Elements without a field here, by schema generation (MS-PRES 7.1); kept and written again.
    public var extensions: ExtensionBlock

    /// Creates a calendar; by default an empty one.
    public init(
        mailboxID: String?, content: Content? = nil, majorVersion: UInt32? = nil, minorVersion: UInt32? = nil,
        attributes: [XMLAttribute] = [], extensions: ExtensionBlock = ExtensionBlock()
    ) {
        self.mailboxID = mailboxID
        self.content = content
        self.majorVersion = majorVersion
        self.minorVersion = minorVersion
        self.attributes = attributes
        self.extensions = extensions
    }

    /// Free/busy slots; nil for other content.
    public var freeBusy: FreeBusy? {
        if case .freeBusy(let value) = content { value } else { nil }
    }

    /// Working hours; nil for other content.
    public var workingHours: WorkingHours? {
        if case .workingHours(let value) = content { value } else { nil }
    }
}
