// MS-PRES 2.2.2.7.8 and 7.8: the `calendarData` category, also the body of `workingHours`.

import XMLCore

/// Free/busy slots of a mailbox as they travel (MS-PRES 2.2.2.7.8); their meaning is decoded by the mapping room.
public struct FreeBusy: Hashable, Sendable {
    /// Start of the first slot, in UTC.
    public var startTime: DateTime
    /// Length of a slot as an ISO 8601 duration, `PT15M` in practice.
    public var granularity: String
    /// Version of the encoding as written, `1` in practice.
    public var encodingVersion: String
    /// The bit stream, decoded from base64.
    public var slots: [UInt8]
    public var attributes: [XMLAttribute]

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

/// When a time zone changes to standard or daylight time (MS-PRES 7.8 `SerializableTimeZoneTime`).
public struct TimeZoneChange: Hashable, Sendable {
    /// Added to the bias of the zone, in minutes.
    public var bias: Int32
    /// Local time of the change, `02:00:00`.
    public var time: String
    /// Which such week day of the month; 5 is the last.
    public var dayOrder: Int16
    /// 1 to 12; 0 when the zone does not change.
    public var month: Int16
    public var dayOfWeek: String

    public init(bias: Int32, time: String, dayOrder: Int16, month: Int16, dayOfWeek: String) {
        self.bias = bias
        self.time = time
        self.dayOrder = dayOrder
        self.month = month
        self.dayOfWeek = dayOfWeek
    }
}

/// A span of work on some days of the week (MS-PRES 7.8 `WorkingPeriod`).
public struct WorkingPeriod: Hashable, Sendable {
    /// `Sunday` to `Saturday`, `Day`, `Weekday`, `WeekendDay`.
    public var daysOfWeek: [String]
    /// Minutes after local midnight.
    public var startTimeInMinutes: Int32
    /// Minutes after local midnight.
    public var endTimeInMinutes: Int32

    public init(daysOfWeek: [String], startTimeInMinutes: Int32, endTimeInMinutes: Int32) {
        self.daysOfWeek = daysOfWeek
        self.startTimeInMinutes = startTimeInMinutes
        self.endTimeInMinutes = endTimeInMinutes
    }
}

/// Time zone and working periods of a user (MS-PRES 7.8).
public struct WorkingHours: Hashable, Sendable {
    /// UTC minus local time, in minutes.
    public var bias: Int32
    public var standardTime: TimeZoneChange?
    public var daylightTime: TimeZoneChange?
    public var periods: [WorkingPeriod]
    /// Elements that this gateway has no name for.
    public var extensions: [XMLFragment]

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

/// Calendar of a user: working hours or free/busy slots, never both (MS-PRES 2.2.2.7.8).
public struct CalendarDataDocument: Hashable, Sendable {
    public enum Content: Hashable, Sendable {
        case workingHours(WorkingHours)
        case freeBusy(FreeBusy)
    }

    /// Mailbox; required by the schema, missing in practice when the calendar is empty.
    public var mailboxID: String?
    public var content: Content?
    public var majorVersion: UInt32?
    public var minorVersion: UInt32?
    public var attributes: [XMLAttribute]
    public var extensions: ExtensionBlock

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

    public var freeBusy: FreeBusy? {
        if case .freeBusy(let value) = content { value } else { nil }
    }

    public var workingHours: WorkingHours? {
        if case .workingHours(let value) = content { value } else { nil }
    }
}
