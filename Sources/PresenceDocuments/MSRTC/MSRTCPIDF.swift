// MS-PRES 2.2.2.9 and 9, MS-SIP 2.2.1: the presence document of the 2003 to 2005 servers, text/xml+msrtc.pidf.

import XMLCore

/// Aggregate number with its texts: `availability` or `activity` of a presentity or device (MS-SIP 2.2.1).
public struct AggregateNumber: Hashable, Sendable {
    /// Number, 0 to 999 (not checked); below 100 it means offline for `availability` and no information for `activity`.
    public var aggregate: UInt32
    /// Meaning in words; nil when absent.
    public var description: String?
    /// Most active endpoint, hexadecimal, at most 16 characters.
    public var epid: String?
    /// Note of the user (`activity` only).
    public var note: String?
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]

    public init(
        _ aggregate: UInt32, description: String? = nil, epid: String? = nil, note: String? = nil,
        attributes: [XMLAttribute] = []
    ) {
        self.aggregate = aggregate
        self.description = description
        self.epid = epid
        self.note = note
        self.attributes = attributes
    }
}

/// Element `phoneNumber` of a presentity (MS-SIP 2.2.1).
public struct PresentityPhoneNumber: Hashable, Sendable {
    /// Number as written.
    public var number: String
    /// Label of the number; nil when absent.
    public var label: String?
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]

    public init(_ number: String, label: String? = nil, attributes: [XMLAttribute] = []) {
        self.number = number
        self.label = label
        self.attributes = attributes
    }
}

/// Element `state` of the aggregate: number and word, which newer readers prefer (MS-PRES 9).
public struct AggregateUserState: Hashable, Sendable {
    /// Availability number, such as 3500 for online and 18500 for offline.
    public var availability: UInt32
    /// Word: `online`, `busy`, `do-not-disturb`, `be-right-back`, `away`, `offline` or an activity token.
    public var token: String
    /// Type of the state; `userState` in practice.
    public var type: StateType?
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]

    /// Creates a state; by default of the type `userState`.
    public init(availability: UInt32, token: String, type: StateType? = .userState, attributes: [XMLAttribute] = []) {
        self.availability = availability
        self.token = token
        self.type = type
        self.attributes = attributes
    }
}

/// Device of a presentity (MS-SIP 2.2.1).
public struct DevicePresence: Hashable, Sendable {
    /// Endpoint identifier; nil when absent.
    public var epid: String?
    /// Seconds since the device last sent presence.
    public var ageOfPresence: UInt32?
    /// Availability of the device; nil when absent.
    public var availability: AggregateNumber?
    /// Activity of the device; nil when absent.
    public var activity: AggregateNumber?
    /// Name of the device; nil when absent.
    public var deviceName: String?
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]
    /// Elements without a field here; kept and written again.
    public var extensions: [XMLFragment]

    public init(
        epid: String? = nil, ageOfPresence: UInt32? = nil, availability: AggregateNumber? = nil, activity: AggregateNumber? = nil,
        deviceName: String? = nil, attributes: [XMLAttribute] = [], extensions: [XMLFragment] = []
    ) {
        self.epid = epid
        self.ageOfPresence = ageOfPresence
        self.availability = availability
        self.activity = activity
        self.deviceName = deviceName
        self.attributes = attributes
        self.extensions = extensions
    }
}

/// Presence document of type text/xml+msrtc.pidf (MS-PRES 2.2.2.9).
///
/// Elements are read in any order and written in that of MS-PRES 9.
public struct MSRTCPIDFDocument: Hashable, Sendable {
    /// Presentity URI without its scheme.
    public var uri: String
    /// Availability of the presentity; nil when absent.
    public var availability: AggregateNumber?
    /// Activity of the presentity; nil when absent.
    public var activity: AggregateNumber?
    /// Display name; nil when absent.
    public var displayName: String?
    /// Mail address; nil when absent.
    public var email: String?
    /// Phone number; nil when absent or without `number`.
    public var phoneNumber: PresentityPhoneNumber?
    /// Notes, contacts and states that the user published; kept byte for byte.
    public var userInfo: XMLFragment?
    /// Devices in document order.
    public var devices: [DevicePresence]
    /// State of the aggregate; nil when absent.
    public var aggregateState: AggregateUserState?
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]
    /// Elements without a field here; kept and written again.
    public var extensions: [XMLFragment]

    public init(
        uri: String, availability: AggregateNumber?, activity: AggregateNumber?, displayName: String? = nil, email: String? = nil,
        phoneNumber: PresentityPhoneNumber? = nil, userInfo: XMLFragment? = nil, devices: [DevicePresence] = [],
        aggregateState: AggregateUserState? = nil, attributes: [XMLAttribute] = [], extensions: [XMLFragment] = []
    ) {
        self.uri = uri
        self.availability = availability
        self.activity = activity
        self.displayName = displayName
        self.email = email
        self.phoneNumber = phoneNumber
        self.userInfo = userInfo
        self.devices = devices
        self.aggregateState = aggregateState
        self.attributes = attributes
        self.extensions = extensions
    }
}

// MARK: elements

private enum PresentityNames {
    static let presentity = XMLName("presentity", in: .msPresence)
    static let availability = XMLName("availability", in: .msPresence)
    static let activity = XMLName("activity", in: .msPresence)
    static let displayName = XMLName("displayName", in: .msPresence)
    static let email = XMLName("email", in: .msPresence)
    static let phoneNumber = XMLName("phoneNumber", in: .msPresence)
    static let userInfo = XMLName("userInfo", in: .msPresence)
    static let devices = XMLName("devices", in: .msPresence)
    static let devicePresence = XMLName("devicePresence", in: .msPresence)
    static let deviceName = XMLName("deviceName", in: .msPresence)
    static let aggregate = XMLName("aggregate", in: .msPresence)
    static let states = XMLName("states", in: .msPresence)
    static let state = XMLName("state", in: .msPresence)
}

// MARK: decode

extension MSRTCPIDFDocument: MSRTCDocument {
    /// Root element `presentity` of ``XMLCore/XMLNamespace/msPresence``.
    public static let rootName = PresentityNames.presentity
    /// Media type `text/xml+msrtc.pidf`.
    public static let mediaType = DocumentMediaType("text/xml+msrtc.pidf")
    static let rule: StaticString = "MS-PRES 2.2.2.9"

    /// Reads the `presentity` element; requires `uri`, and `aggregate` of each number.
    public init(reading element: XMLElement) throws(DocumentError) {
        try element.expect(Self.rootName, rule: Self.rule)
        var attributes = AttributeReader(element, rule: Self.rule)
        self.init(uri: try attributes.requiredString("uri"), availability: nil, activity: nil)
        self.attributes = attributes.others(besides: ["uri"])
        for child in element.children {
            switch child {
            case PresentityNames.availability: availability = try AggregateNumber(reading: child)
            case PresentityNames.activity: activity = try AggregateNumber(reading: child)
            case PresentityNames.displayName: displayName = child.attribute("displayName")
            case PresentityNames.email: email = child.attribute("email")
            case PresentityNames.phoneNumber: phoneNumber = PresentityPhoneNumber(reading: child)
            case PresentityNames.userInfo where userInfo == nil: userInfo = child.fragment()
            case PresentityNames.devices:
                for device in child.children where device.is(PresentityNames.devicePresence) {
                    devices.append(try DevicePresence(reading: device))
                }
            case PresentityNames.aggregate:
                let state = child.first(PresentityNames.states)?.first(PresentityNames.state)
                if let state { aggregateState = try AggregateUserState(reading: state) }
            default: extensions.append(child.fragment())
            }
        }
    }
}

extension AggregateNumber {
    fileprivate init(reading element: XMLElement) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: MSRTCPIDFDocument.rule)
        self.init(
            try attributes.requiredUnsigned("aggregate"), description: attributes.string("description"),
            epid: attributes.string("epid"), note: attributes.string("note"))
        self.attributes = attributes.others(besides: ["aggregate", "description", "epid", "note"])
    }
}

extension PresentityPhoneNumber {
    fileprivate init?(reading element: XMLElement) {
        var attributes = AttributeReader(element, rule: MSRTCPIDFDocument.rule)
        guard let number = attributes.string("number") else { return nil }
        self.init(number, label: attributes.string("label"))
        self.attributes = attributes.others(besides: ["number", "label"])
    }
}

extension AggregateUserState {
    fileprivate init(reading element: XMLElement) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: "MS-PRES 9")
        self.init(
            availability: try attributes.requiredUnsigned("avail"), token: element.trimmedText,
            type: attributes.qualified(.xsiType).map(StateType.init(qualifiedName:)))
        self.attributes = attributes.others(besides: ["avail"], .xsiType)
    }
}

extension DevicePresence {
    fileprivate init(reading element: XMLElement) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: MSRTCPIDFDocument.rule)
        self.init(epid: attributes.string("epid"), ageOfPresence: try attributes.unsigned("ageOfPresence"))
        self.attributes = attributes.others(besides: ["epid", "ageOfPresence"])
        for child in element.children {
            switch child {
            case PresentityNames.availability: availability = try AggregateNumber(reading: child)
            case PresentityNames.activity: activity = try AggregateNumber(reading: child)
            case PresentityNames.deviceName where child.attributeCount == 1 && child.isLeaf: deviceName = child.attribute("name")
            default: extensions.append(child.fragment())
            }
        }
    }
}

// MARK: encode

extension MSRTCPIDFDocument {
    /// Writes the `presentity` element with its namespace declared.
    public func write(to writer: inout XMLWriter) {
        writer.start("presentity")
        writer.namespace("", .msPresence)
        writer.namespace("xsi", .xsi)
        writer.attribute("uri", uri)
        writer.attributes(attributes)
        availability?.write("availability", to: &writer)
        activity?.write("activity", to: &writer)
        writer.valueElement("displayName", "displayName", displayName)
        writer.valueElement("email", "email", email)
        if let phoneNumber {
            writer.start("phoneNumber")
            writer.attribute("label", ifPresent: phoneNumber.label)
            writer.attribute("number", phoneNumber.number)
            writer.attributes(phoneNumber.attributes)
            writer.end()
        }
        writer.fragments(extensions)
        if let userInfo { writer.fragment(userInfo) }
        if !devices.isEmpty {
            writer.start("devices")
            for device in devices { device.write(to: &writer) }
            writer.end()
        }
        if let aggregateState {
            writer.start("aggregate")
            writer.start("states")
            aggregateState.write(to: &writer)
            writer.end()
            writer.end()
        }
        writer.end()
    }
}

extension AggregateNumber {
    fileprivate func write(_ name: String, to writer: inout XMLWriter) {
        writer.start(name)
        writer.attribute("aggregate", String(aggregate))
        writer.attribute("description", ifPresent: description)
        writer.attribute("epid", ifPresent: epid)
        writer.attribute("note", ifPresent: note)
        writer.attributes(attributes)
        writer.end()
    }
}

extension AggregateUserState {
    fileprivate func write(to writer: inout XMLWriter) {
        writer.start("state")
        writer.attribute("avail", String(availability))
        writer.attribute("xsi:type", ifPresent: type)
        writer.attributes(attributes)
        if !token.isEmpty { writer.text(token) }
        writer.end()
    }
}

extension DevicePresence {
    fileprivate func write(to writer: inout XMLWriter) {
        writer.start("devicePresence")
        writer.attribute("epid", ifPresent: epid)
        writer.attribute("ageOfPresence", ifPresent: ageOfPresence)
        writer.attributes(attributes)
        availability?.write("availability", to: &writer)
        activity?.write("activity", to: &writer)
        writer.valueElement("deviceName", "name", deviceName)
        writer.fragments(extensions)
        writer.end()
    }
}

extension XMLWriter {
    fileprivate mutating func valueElement(_ name: String, _ attribute: String, _ value: String?) {
        guard let value else { return }
        start(name)
        self.attribute(attribute, value)
        end()
    }
}
