import XMLCore

// RFC 4479, A Data Model for Presence
// namespace urn:ietf:params:xml:ns:pidf:data-model, inside PIDF

/// The presentity as a human being (RFC 4479 3.2).
public struct PIDFPerson: Hashable, Sendable {
    /// An `xs:ID`, unique in the document.
    public var id: String
    public var rpid = RPID()
    public var cipid = CIPID()
    public var notes: [PIDFNote] = []
    public var timestamp: DateTime?
    public var extensions: [XMLFragment] = []
    public var attributes: [XMLAttribute] = []

    public init(id: String) { self.id = id }
}

/// A piece of equipment (RFC 4479 3.4).
public struct PIDFDevice: Hashable, Sendable {
    /// Names this report, not the device; an `xs:ID`.
    public var id: String
    /// URI, a URN by preference, that names the device.
    public var deviceID: String
    public var rpid = RPID()
    public var cipid = CIPID()
    /// RFC 5196
    public var capabilities: DeviceCapabilities?
    public var notes: [PIDFNote] = []
    public var timestamp: DateTime?
    public var extensions: [XMLFragment] = []
    public var attributes: [XMLAttribute] = []

    public init(id: String, deviceID: String) {
        self.id = id
        self.deviceID = deviceID
    }
}
