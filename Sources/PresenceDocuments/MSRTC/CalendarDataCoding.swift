// MS-PRES 7.8: reading and writing of the `calendarData` category; its values are in CalendarData.swift.

import ByteCoding
import XMLCore

// MARK: elements

private enum CalendarNames {
    static let calendarData = XMLName("calendarData", in: .msCalendarData)
    static let freeBusy = XMLName("freeBusy", in: .msCalendarData)
    static let workingHours = XMLName("WorkingHours", in: .msExchangeTypes)
    static let timeZone = XMLName("TimeZone", in: .msExchangeTypes)
    static let bias = XMLName("Bias", in: .msExchangeTypes)
    static let standardTime = XMLName("StandardTime", in: .msExchangeTypes)
    static let daylightTime = XMLName("DaylightTime", in: .msExchangeTypes)
    static let time = XMLName("Time", in: .msExchangeTypes)
    static let dayOrder = XMLName("DayOrder", in: .msExchangeTypes)
    static let month = XMLName("Month", in: .msExchangeTypes)
    static let dayOfWeek = XMLName("DayOfWeek", in: .msExchangeTypes)
    static let workingPeriodArray = XMLName("WorkingPeriodArray", in: .msExchangeTypes)
    static let workingPeriod = XMLName("WorkingPeriod", in: .msExchangeTypes)
    static let startTimeInMinutes = XMLName("StartTimeInMinutes", in: .msExchangeTypes)
    static let endTimeInMinutes = XMLName("EndTimeInMinutes", in: .msExchangeTypes)
}

private let rule: StaticString = "MS-PRES 7.8"

// MARK: decode

extension CalendarDataDocument: MSRTCDocument {
    /// Root element `calendarData` of ``XMLCore/XMLNamespace/msCalendarData``.
    public static let rootName = CalendarNames.calendarData

    /// Reads the `calendarData` element; the first content element counts, a second one is kept as an extension.
    public init(reading element: XMLElement) throws(DocumentError) {
        try element.expect(Self.rootName, rule: rule)
        var attributes = AttributeReader(element, rule: rule)
        self.init(mailboxID: attributes.string("mailboxID"))
        majorVersion = try attributes.unsigned("majorVersion")
        minorVersion = try attributes.unsigned("minorVersion")
        self.attributes = attributes.others(besides: ["mailboxID", "majorVersion", "minorVersion"])
        var extensions = ExtensionReader()
        for child in element.children {
            if child.is(CalendarNames.freeBusy), content == nil {
                content = .freeBusy(try FreeBusy(reading: child))
            } else if child.is(CalendarNames.workingHours), content == nil {
                content = .workingHours(try WorkingHours(reading: child))
            } else {
                extensions.take(child)
            }
        }
        self.extensions = extensions.block
    }
}

extension FreeBusy {
    fileprivate init(reading element: XMLElement) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: rule)
        guard let startTime = try attributes.dateTime("startTime") else {
            throw element.missing(attribute: "startTime", rule: rule)
        }
        guard let slots = element.withText({ Base64.decode(liberally: $0) }) else {
            throw element.invalid("freeBusy", value: element.trimmedText, expected: "base64", rule: rule)
        }
        self.init(
            startTime: startTime, granularity: try attributes.requiredString("granularity"),
            encodingVersion: try attributes.requiredString("encodingVersion"), slots: slots)
        self.attributes = attributes.others(besides: ["startTime", "granularity", "encodingVersion"])
    }
}

extension WorkingHours {
    fileprivate init(reading element: XMLElement) throws(DocumentError) {
        self.init(bias: 0)
        for child in element.children {
            if child.is(CalendarNames.timeZone) {
                for part in child.children {
                    switch part {
                    case CalendarNames.bias: bias = try part.number()
                    case CalendarNames.standardTime: standardTime = try TimeZoneChange(reading: part)
                    case CalendarNames.daylightTime: daylightTime = try TimeZoneChange(reading: part)
                    default: continue
                    }
                }
            } else if child.is(CalendarNames.workingPeriodArray) {
                for period in child.children where period.is(CalendarNames.workingPeriod) {
                    periods.append(try WorkingPeriod(reading: period))
                }
            } else {
                extensions.append(child.fragment())
            }
        }
    }
}

extension TimeZoneChange {
    fileprivate init(reading element: XMLElement) throws(DocumentError) {
        self.init(bias: 0, time: "", dayOrder: 0, month: 0, dayOfWeek: "")
        for child in element.children {
            switch child {
            case CalendarNames.bias: bias = try child.number()
            case CalendarNames.time: time = child.trimmedText
            case CalendarNames.dayOrder: dayOrder = try child.number()
            case CalendarNames.month: month = try child.number()
            case CalendarNames.dayOfWeek: dayOfWeek = child.trimmedText
            default: continue
            }
        }
    }
}

extension WorkingPeriod {
    fileprivate init(reading element: XMLElement) throws(DocumentError) {
        self.init(daysOfWeek: [], startTimeInMinutes: 0, endTimeInMinutes: 0)
        for child in element.children {
            switch child {
            case CalendarNames.dayOfWeek:
                daysOfWeek = child.text.split { $0 == " " || $0 == "\n" || $0 == "\t" || $0 == "\r" || $0 == "\r\n" }.map(String.init)
            case CalendarNames.startTimeInMinutes: startTimeInMinutes = try child.number()
            case CalendarNames.endTimeInMinutes: endTimeInMinutes = try child.number()
            default: continue
            }
        }
    }
}

extension XMLElement {
    fileprivate func number<Number: FixedWidthInteger>() throws(DocumentError) -> Number {
        guard let number = Number(exactly: try integerText(rule: rule)) else {
            throw invalid(
                localName, value: trimmedText, expected: "a whole number from \(Number.min) to \(Number.max)", rule: rule)
        }
        return number
    }
}

// MARK: encode

extension CalendarDataDocument {
    /// Writes the `calendarData` element with its namespace declared.
    public func write(to writer: inout XMLWriter) {
        writer.start("calendarData")
        writer.namespace("", .msCalendarData)
        writer.attribute("mailboxID", ifPresent: mailboxID)
        writer.attribute("majorVersion", ifPresent: majorVersion)
        writer.attribute("minorVersion", ifPresent: minorVersion)
        writer.attributes(attributes)
        switch content {
        case .freeBusy(let freeBusy): freeBusy.write(to: &writer)
        case .workingHours(let hours): hours.write(to: &writer)
        case nil: break
        }
        writer.generations(extensions)
        writer.end()
    }
}

extension FreeBusy {
    fileprivate func write(to writer: inout XMLWriter) {
        writer.start("freeBusy")
        writer.attribute("startTime", startTime.text)
        writer.attribute("granularity", granularity)
        writer.attribute("encodingVersion", encodingVersion)
        writer.attributes(attributes)
        if !slots.isEmpty { writer.raw(Base64.encode(slots)) }
        writer.end()
    }
}

extension WorkingHours {
    fileprivate func write(to writer: inout XMLWriter) {
        writer.start("WorkingHours")
        writer.namespace("", .msExchangeTypes)
        writer.start("TimeZone")
        writer.element("Bias", String(bias))
        standardTime?.write("StandardTime", to: &writer)
        daylightTime?.write("DaylightTime", to: &writer)
        writer.end()
        writer.start("WorkingPeriodArray")
        for period in periods {
            writer.start("WorkingPeriod")
            writer.element("DayOfWeek", period.daysOfWeek.joined(separator: " "))
            writer.element("StartTimeInMinutes", String(period.startTimeInMinutes))
            writer.element("EndTimeInMinutes", String(period.endTimeInMinutes))
            writer.end()
        }
        writer.end()
        writer.fragments(extensions)
        writer.end()
    }
}

extension TimeZoneChange {
    fileprivate func write(_ name: String, to writer: inout XMLWriter) {
        writer.start(name)
        writer.element("Bias", String(bias))
        writer.element("Time", time)
        writer.element("DayOrder", String(dayOrder))
        writer.element("Month", String(month))
        writer.element("DayOfWeek", dayOfWeek)
        writer.end()
    }
}
