import XMLCore

// RFC 5196, SIP User Agent Capability Extension to PIDF
// namespace urn:ietf:params:xml:ns:pidf:caps, inside a tuple (servcaps) or device (devcaps)

/// What a service can do (RFC 5196 3.2). Nil means that nothing is said.
public struct ServiceCapabilities: Hashable, Sendable {
    public var actor: CapabilitySet?
    public var application: Bool?
    public var audio: Bool?
    public var automata: Bool?
    public var `class`: CapabilitySet?
    public var control: Bool?
    public var data: Bool?
    public var descriptions: [PIDFNote] = []
    public var duplex: CapabilitySet?
    public var eventPackages: CapabilitySet?
    /// SIP option tags.
    public var sipExtensions: CapabilitySet?
    public var isFocus: Bool?
    public var message: Bool?
    public var methods: CapabilitySet?
    public var languages: CapabilitySet?
    public var priority: PriorityCapability?
    public var schemes: CapabilitySet?
    public var text: Bool?
    /// MIME types.
    public var types: [String] = []
    public var video: Bool?
    public var extensions: [XMLFragment] = []
    public var attributes: [XMLAttribute] = []

    public init() {}
}

/// Values that are supported and values that are not (RFC 5196 3.2).
public struct CapabilitySet: Hashable, Sendable {
    public var supported: [String]
    public var notSupported: [String]

    public init(supported: [String] = [], notSupported: [String] = []) {
        self.supported = supported
        self.notSupported = notSupported
    }
}

/// Priorities of calls that a service takes (RFC 5196 3.2.15).
public struct PriorityCapability: Hashable, Sendable {
    public enum Rule: Hashable, Sendable {
        case equals(Int)
        case higherThan(Int)
        case lowerThan(Int)
        case range(Int, Int)
    }
    public var supported: [Rule]
    public var notSupported: [Rule]

    public init(supported: [Rule] = [], notSupported: [Rule] = []) {
        self.supported = supported
        self.notSupported = notSupported
    }
}

/// What a device can do (RFC 5196 3.3).
public struct DeviceCapabilities: Hashable, Sendable {
    public var descriptions: [PIDFNote] = []
    /// fixed, mobile
    public var mobility: CapabilitySet?
    public var extensions: [XMLFragment] = []
    public var attributes: [XMLAttribute] = []

    public init() {}
}
