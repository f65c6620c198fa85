import XMLCore

// RFC 5196, SIP User Agent Capability Extension to PIDF
// namespace urn:ietf:params:xml:ns:pidf:caps, inside a tuple (servcaps) or device (devcaps)

/// Capabilities of a service (RFC 5196 3.2); nil means that the element is absent.
public struct ServiceCapabilities: Hashable, Sendable {
    /// Kinds of entity, such as `principal` or `attendant`.
    public var actor: CapabilitySet?
    /// Whether the service supports application streams.
    public var application: Bool?
    /// Whether the service supports audio streams.
    public var audio: Bool?
    /// Whether the service is an automaton, such as a voice mail server.
    public var automata: Bool?
    /// Classes of use: `business`, `personal`.
    public var `class`: CapabilitySet?
    /// Whether the service supports control streams.
    public var control: Bool?
    /// Whether the service supports data streams.
    public var data: Bool?
    /// Descriptions for people, one per language.
    public var descriptions: [PIDFNote] = []
    /// Directions: `full`, `half`, `receive-only`, `send-only`.
    public var duplex: CapabilitySet?
    /// SIP event packages.
    public var eventPackages: CapabilitySet?
    /// SIP option tags.
    public var sipExtensions: CapabilitySet?
    /// Whether the service is a conference focus.
    public var isFocus: Bool?
    /// Whether the service supports message streams.
    public var message: Bool?
    /// SIP methods.
    public var methods: CapabilitySet?
    /// Languages, as language tags.
    public var languages: CapabilitySet?
    /// Priorities of calls that the service accepts.
    public var priority: PriorityCapability?
    /// URI schemes.
    public var schemes: CapabilitySet?
    /// Whether the service supports text streams.
    public var text: Bool?
    /// MIME types.
    public var types: [String] = []
    /// Whether the service supports video streams.
    public var video: Bool?
    /// Elements without a field here; kept and written again.
    public var extensions: [XMLFragment] = []
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute] = []

    /// Creates capabilities without elements.
    public init() {}
}

/// Supported and unsupported values (RFC 5196 3.2).
public struct CapabilitySet: Hashable, Sendable {
    /// Supported values in document order.
    public var supported: [String]
    /// Unsupported values in document order.
    public var notSupported: [String]

    public init(supported: [String] = [], notSupported: [String] = []) {
        self.supported = supported
        self.notSupported = notSupported
    }
}

/// Priorities of calls that a service accepts (RFC 5196 3.2.15).
public struct PriorityCapability: Hashable, Sendable {
    /// Rule for priorities; parsed numbers are 0 to 2^31 - 1.
    public enum Rule: Hashable, Sendable {
        case equals(Int)
        case higherThan(Int)
        case lowerThan(Int)
        case range(Int, Int)
    }
    /// Rules for accepted priorities.
    public var supported: [Rule]
    /// Rules for priorities that are not accepted.
    public var notSupported: [Rule]

    public init(supported: [Rule] = [], notSupported: [Rule] = []) {
        self.supported = supported
        self.notSupported = notSupported
    }
}

/// Capabilities of a device (RFC 5196 3.3).
public struct DeviceCapabilities: Hashable, Sendable {
    /// Descriptions for people, one per language.
    public var descriptions: [PIDFNote] = []
    /// Mobility: `fixed`, `mobile`.
    public var mobility: CapabilitySet?
    /// Elements without a field here; kept and written again.
    public var extensions: [XMLFragment] = []
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute] = []

    /// Creates capabilities without elements.
    public init() {}
}
