import XMLCore

// RFC 4479, A Data Model for Presence
// namespace urn:ietf:params:xml:ns:pidf:data-model, inside PIDF

/// The presentity as a human being (RFC 4479 3.2).
public struct PIDFPerson: Hashable, Sendable {
    /// Id, an `xs:ID`, unique in the document.
    public var id: String
    /// Elements of RPID (RFC 4480).
    public var rpid = RPID()
    /// Elements of CIPID (RFC 4482).
    public var cipid = CIPID()
    /// Notes for people, in document order.
    public var notes: [PIDFNote] = []
    /// Time of the report; nil when absent.
    public var timestamp: DateTime?
    /// Elements without a field here; kept and written again.
    public var extensions: [XMLFragment] = []
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute] = []

    public init(id: String) { self.id = id }
}

/// A piece of equipment (RFC 4479 3.4).
public struct PIDFDevice: Hashable, Sendable {
    /// Id of this report, not of the device; an `xs:ID`.
    public var id: String
    /// URI of the device, preferably a URN.
    public var deviceID: String
    /// Elements of RPID (RFC 4480).
    public var rpid = RPID()
    /// Elements of CIPID (RFC 4482).
    public var cipid = CIPID()
    /// Capabilities of the device (RFC 5196); nil when absent.
    public var capabilities: DeviceCapabilities?
    /// Notes for people, in document order.
    public var notes: [PIDFNote] = []
    /// Time of the report; nil when absent.
    public var timestamp: DateTime?
    /// Elements without a field here; kept and written again.
    public var extensions: [XMLFragment] = []
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute] = []

    public init(id: String, deviceID: String) {
        self.id = id
        self.deviceID = deviceID
    }
}
