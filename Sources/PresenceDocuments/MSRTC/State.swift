// MS-PRES 2.2.2.7.1 and 7.2: the `state` category, also the body of `dndState`.

import XMLCore

/// Value of `xsi:type` of a state (MS-PRES 2.2.2.7.1).
public struct StateType: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Token as written in documents, case included.
    public let rawValue: String

    /// Wraps a token; tokens that are not listed here are kept.
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: StaticString) { rawValue = value.description }

    /// Set by the user.
    public static let userState: StateType = "userState"
    /// Activity of one endpoint.
    public static let machineState: StateType = "machineState"
    /// State of the calendar.
    public static let calendarState: StateType = "calendarState"
    /// Voice and video conversations.
    public static let phoneState: StateType = "phoneState"
    /// The user is presenting.
    public static let presentingState: StateType = "presentingState"
    /// State of the whole user, computed by the server.
    public static let aggregateState: StateType = "aggregateState"
    /// State of all devices of the user, computed by the server.
    public static let aggregateMachineState: StateType = "aggregateMachineState"

    public var description: String { rawValue }
}

/// Token that clients translate into an activity text (MS-PRES 7.2); other tokens are allowed.
public struct ActivityToken: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Token as written in documents, case included.
    public let rawValue: String

    /// Wraps a token; tokens that are not listed here are kept.
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: StaticString) { rawValue = value.description }

    /// In a call.
    public static let onThePhone: ActivityToken = "on-the-phone"
    /// In a conference.
    public static let inAConference: ActivityToken = "in-a-conference"
    /// In a meeting.
    public static let inAMeeting: ActivityToken = "in-a-meeting"
    /// Out of the office; shown in the away band.
    public static let outOfOffice: ActivityToken = "out-of-office"
    /// Busy, but reachable for urgent matters.
    public static let urgentInterruptionsOnly: ActivityToken = "urgent-interruptions-only"
    /// Off work; shown in the away band.
    public static let offWork: ActivityToken = "off-work"
    /// Presenting; shown in the do-not-disturb band.
    public static let inPresentation: ActivityToken = "in-presentation"

    public var description: String { rawValue }
}

/// Kind of device of a machine state (MS-PRES 7.2); other tokens are allowed.
public struct DeviceType: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Token as written in documents, case included.
    public let rawValue: String

    /// Wraps a token; tokens that are not listed here are kept.
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: StaticString) { rawValue = value.description }

    public static let computer: DeviceType = "computer"
    public static let deskphone: DeviceType = "deskphone"
    public static let mobile: DeviceType = "mobile"
    public static let web: DeviceType = "web"

    public var description: String { rawValue }
}

/// Bound of the availabilities at which an activity applies (MS-PRES 7.2 `unboundedType`).
public enum AvailabilityBound: Hashable, Sendable {
    case value(UInt32)
    case unbounded
}

/// Activity of a state: a token or a text per language, with the availabilities at which it applies (MS-PRES 2.2.2.7.1).
public struct StateActivity: Hashable, Sendable {
    /// Token of the activity; nil if only texts are given.
    public var token: ActivityToken?
    /// Lowest availability at which the activity applies; nil means 0.
    public var minimumAvailability: AvailabilityBound?
    /// Highest availability at which the activity applies; nil means unbounded.
    public var maximumAvailability: AvailabilityBound?
    /// Texts, one per language, used without a token.
    public var custom: [LocalizedText]
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]
    /// Elements without a field here, by schema generation (MS-PRES 7.1); kept and written again.
    public var extensions: ExtensionBlock

    public init(
        token: ActivityToken? = nil, minimumAvailability: AvailabilityBound? = nil, maximumAvailability: AvailabilityBound? = nil,
        custom: [LocalizedText] = [], attributes: [XMLAttribute] = [], extensions: ExtensionBlock = ExtensionBlock()
    ) {
        self.token = token
        self.minimumAvailability = minimumAvailability
        self.maximumAvailability = maximumAvailability
        self.custom = custom
        self.attributes = attributes
        self.extensions = extensions
    }

    /// Whether the activity applies at an availability, with the defaults 0 and unbounded (MS-PRES 3.8.5.1.2.3); false if the
    /// minimum is unbounded.
    public func isValid(at availability: UInt32) -> Bool {
        switch minimumAvailability {
        case .value(let minimum) where availability < minimum: return false
        case .unbounded: return false
        default: break
        }
        if case .value(let maximum) = maximumAvailability, availability > maximum { return false }
        return true
    }
}

/// State of a user, a device or a calendar (MS-PRES 2.2.2.7.1, 7.2).
public struct StateDocument: Hashable, Sendable {
    /// Value of `xsi:type` without its prefix; nil only in documents that violate the schema.
    public var type: StateType?
    /// Whether the user set the state manually; nil means false.
    public var manual: Bool?
    /// Time at which the state took effect, in UTC.
    public var startTime: DateTime?
    /// Time at which the user became unavailable, in UTC; written with whole seconds (aggregateState).
    public var lastActive: DateTime?
    /// Mailbox of a calendarState or tel URI of a phoneState.
    public var uri: String?
    /// Endpoint from which an aggregateMachineState was taken.
    public var endpointID: String?
    /// Major schema version as written; nil when absent.
    public var majorVersion: UInt32?
    /// Minor schema version as written; nil when absent.
    public var minorVersion: UInt32?
    /// Availability number: 3000 to 4499 is online, 18000 and more offline; the mapping tables define the bands.
    public var availability: UInt32?
    /// Activities in document order.
    public var activities: [StateActivity]
    /// Location: `office`, `mobile`, `home`, `none` or free text; may be empty.
    public var endpointLocation: String?
    /// Subject of the meeting; nil when absent.
    public var meetingSubject: LocalizedText?
    /// Place of the meeting; nil when absent.
    public var meetingLocation: LocalizedText?
    /// UTC minus local time, in minutes; nil when absent.
    public var timeZoneBias: Int64?
    /// Name of the time zone; nil when absent.
    public var timeZoneName: String?
    /// Abbreviation of the time zone; nil when absent.
    public var timeZoneAbbreviation: String?
    /// Kind of device; nil when absent.
    public var device: DeviceType?
    /// Location hint, as written; nil when absent.
    public var treatLocationAsProximate: String?
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]
    /// Element `extension` of the state's own namespace, which belongs to the base type.
    public var stateExtension: XMLFragment?
    /// Elements of generations without fields here; the first two hold the time zone and the location hint.
    public var extensions: ExtensionBlock

    /// Creates a state; omitted elements and attributes are absent.
    public init(
        type: StateType?, availability: UInt32? = nil, activities: [StateActivity] = [], manual: Bool? = nil,
        startTime: DateTime? = nil, lastActive: DateTime? = nil, uri: String? = nil, endpointID: String? = nil,
        majorVersion: UInt32? = nil, minorVersion: UInt32? = nil, endpointLocation: String? = nil,
        meetingSubject: LocalizedText? = nil, meetingLocation: LocalizedText? = nil, timeZoneBias: Int64? = nil,
        timeZoneName: String? = nil, timeZoneAbbreviation: String? = nil, device: DeviceType? = nil,
        treatLocationAsProximate: String? = nil, attributes: [XMLAttribute] = [], stateExtension: XMLFragment? = nil,
        extensions: ExtensionBlock = ExtensionBlock()
    ) {
        self.type = type
        self.manual = manual
        self.startTime = startTime
        self.lastActive = lastActive
        self.uri = uri
        self.endpointID = endpointID
        self.majorVersion = majorVersion
        self.minorVersion = minorVersion
        self.availability = availability
        self.activities = activities
        self.endpointLocation = endpointLocation
        self.meetingSubject = meetingSubject
        self.meetingLocation = meetingLocation
        self.timeZoneBias = timeZoneBias
        self.timeZoneName = timeZoneName
        self.timeZoneAbbreviation = timeZoneAbbreviation
        self.device = device
        self.treatLocationAsProximate = treatLocationAsProximate
        self.attributes = attributes
        self.stateExtension = stateExtension
        self.extensions = extensions
    }
}

// MARK: elements

private enum StateNames {
    static let state = XMLName("state", in: .msState)
    static let availability = XMLName("availability", in: .msState)
    static let activity = XMLName("activity", in: .msState)
    static let custom = XMLName("custom", in: .msState)
    static let endpointLocation = XMLName("endpointLocation", in: .msState)
    static let stateExtension = XMLName("extension", in: .msState)
    static let meetingSubject = XMLName("meetingSubject", in: .msState)
    static let meetingLocation = XMLName("meetingLocation", in: .msState)
    static let timeZoneBias = XMLName("timeZoneBias", in: .msState)
    static let timeZoneName = XMLName("timeZoneName", in: .msState)
    static let timeZoneAbbreviation = XMLName("timeZoneAbbreviation", in: .msState)
    static let device = XMLName("device", in: .msState)
    static let treatLocationAsProximate = XMLName("treatLocationAsProximate", in: .msState)
}

// MARK: decode

extension StateDocument: MSRTCDocument {
    /// Root element `state` of ``XMLCore/XMLNamespace/msState``.
    public static let rootName = StateNames.state
    static let rule: StaticString = "MS-PRES 7.2"

    /// Reads the `state` element; throws ``DocumentError`` for another root or a value that the schema does not allow.
    public init(reading element: XMLElement) throws(DocumentError) {
        try element.expect(Self.rootName, rule: Self.rule)
        var attributes = AttributeReader(element, rule: Self.rule)
        self.init(type: attributes.qualified(.xsiType).map(StateType.init(qualifiedName:)))
        manual = try attributes.boolean("manual")
        startTime = try attributes.dateTime("startTime")
        lastActive = try attributes.dateTime("lastActive")
        uri = attributes.string("uri")
        endpointID = attributes.string("endpointId")
        majorVersion = try attributes.unsigned("majorVersion")
        minorVersion = try attributes.unsigned("minorVersion")
        self.attributes = attributes.others(besides: Self.attributeNames, .xsiType)
        var extensions = ExtensionReader()
        for child in element.children {
            switch child {
            case StateNames.availability: availability = try child.unsignedText(rule: Self.rule)
            case StateNames.activity: activities.append(try StateActivity(reading: child))
            case StateNames.endpointLocation: endpointLocation = child.trimmedText
            case StateNames.meetingSubject: meetingSubject = try LocalizedText(reading: child, rule: Self.rule)
            case StateNames.meetingLocation: meetingLocation = try LocalizedText(reading: child, rule: Self.rule)
            case StateNames.timeZoneBias: timeZoneBias = try child.integerText(rule: Self.rule)
            case StateNames.timeZoneName: timeZoneName = child.trimmedText
            case StateNames.timeZoneAbbreviation: timeZoneAbbreviation = child.trimmedText
            case StateNames.device: device = child.tokenText()
            case StateNames.treatLocationAsProximate: treatLocationAsProximate = child.trimmedText
            case StateNames.stateExtension where stateExtension == nil: stateExtension = child.fragment()
            default: extensions.take(child)
            }
        }
        self.extensions = extensions.block
    }

    private static let attributeNames: Set<String> = [
        "manual", "startTime", "lastActive", "uri", "endpointId", "majorVersion", "minorVersion",
    ]
}

extension StateType {
    /// Creates a type from the local part of a QName, whatever its prefix (MS-PRES 7.2). A value with several colons, which is not
    /// a QName, yields the part after the last: a type contains no colon, so that it is written as it was read.
    init(qualifiedName: String) {
        let local = qualifiedName.utf8.lastIndex(of: UInt8(ascii: ":")).map { qualifiedName.utf8.index(after: $0) }
        self.init(rawValue: local.map { String(qualifiedName[$0...]) } ?? qualifiedName)
    }
}

extension StateActivity {
    init(reading element: XMLElement) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: StateDocument.rule)
        self.init(token: attributes.token("token"))
        minimumAvailability = try attributes.bound("minAvailability")
        maximumAvailability = try attributes.bound("maxAvailability")
        self.attributes = attributes.others(besides: ["token", "minAvailability", "maxAvailability"])
        var extensions = ExtensionReader()
        for child in element.children {
            if child.is(StateNames.custom) {
                custom.append(try LocalizedText(reading: child, rule: StateDocument.rule))
            } else {
                extensions.take(child)
            }
        }
        self.extensions = extensions.block
    }
}

extension AttributeReader {
    fileprivate mutating func bound(_ name: StaticString) throws(DocumentError) -> AvailabilityBound? {
        guard element.attribute(name, equals: "unbounded") else { return try unsigned(name).map(AvailabilityBound.value) }
        _ = string(name)
        return .unbounded
    }
}

// MARK: encode

extension StateDocument {
    /// Writes the `state` element with its namespace declared.
    public func write(to writer: inout XMLWriter) {
        writer.start("state")
        writer.namespace("", .msState)
        if let type {
            writer.namespace("xsi", .xsi)
            writer.attribute("xsi:type", type.rawValue)
        }
        writer.attribute("manual", ifPresent: manual)
        writer.attribute("startTime", ifPresent: startTime?.text)
        writer.attribute("lastActive", ifPresent: lastActive?.lastActive)
        writer.attribute("uri", ifPresent: uri)
        writer.attribute("endpointId", ifPresent: endpointID)
        writer.attribute("majorVersion", ifPresent: majorVersion)
        writer.attribute("minorVersion", ifPresent: minorVersion)
        writer.attributes(attributes)
        if let availability { writer.element("availability", String(availability)) }
        for activity in activities { activity.write(to: &writer) }
        writer.element("endpointLocation", ifPresent: endpointLocation)
        if let stateExtension { writer.fragment(stateExtension) }
        meetingSubject?.write("meetingSubject", to: &writer)
        meetingLocation?.write("meetingLocation", to: &writer)
        let hasTimeZone = timeZoneBias != nil || timeZoneName != nil || timeZoneAbbreviation != nil || device != nil
        writer.generations(extensions, known: treatLocationAsProximate != nil ? 2 : hasTimeZone ? 1 : 0) { generation, writer in
            if generation == 0 {
                writer.timeZone(of: self)
            } else {
                writer.element("treatLocationAsProximate", ifPresent: treatLocationAsProximate)
            }
        }
        writer.end()
    }
}

extension XMLWriter {
    /// Writes the elements of the first generation: time zone and kind of device.
    fileprivate mutating func timeZone(of state: StateDocument) {
        if let bias = state.timeZoneBias { element("timeZoneBias", String(bias)) }
        element("timeZoneName", ifPresent: state.timeZoneName)
        element("timeZoneAbbreviation", ifPresent: state.timeZoneAbbreviation)
        element("device", ifPresent: state.device?.rawValue)
    }
}

extension StateActivity {
    fileprivate func write(to writer: inout XMLWriter) {
        writer.start("activity")
        writer.attribute("token", ifPresent: token)
        writer.attribute("minAvailability", ifPresent: minimumAvailability?.text)
        writer.attribute("maxAvailability", ifPresent: maximumAvailability?.text)
        writer.attributes(attributes)
        for text in custom { text.write("custom", to: &writer) }
        writer.generations(extensions)
        writer.end()
    }
}

extension AvailabilityBound {
    fileprivate var text: String {
        switch self {
        case .value(let value): String(value)
        case .unbounded: "unbounded"
        }
    }
}
