import SIPCore

/// Why the transport could not start; always the operator's side, never a peer's.
public struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Code: String, Hashable, Sendable {
        case addressInUse, addressNotAvailable, notPermitted, unsupportedTransport, unresolvableHost, failed
    }

    public var code: Code
    public var address: TransportAddress
    public var reason: String

    public init(_ code: Code, _ address: TransportAddress, _ reason: String) {
        self.code = code
        self.address = address
        self.reason = reason
    }

    public var description: String { "\(address): \(reason)" }
}
