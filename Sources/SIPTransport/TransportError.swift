import Glibc
import NIOCore
import NIOPosix
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

    /// The system's words for a failure of a socket, without those of the library in between.
    static func reason(_ error: any Error) -> String {
        switch error {
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case let error as NIOConnectionError:
            error.connectionErrors.first.map { reason($0.error) } ?? error.dnsAError.map { reason($0) } ?? "cannot connect"
        case let error as SocketAddressError.UnknownHost: "\(error.host): \(error.errorDescription)"
        case ChannelError.connectTimeout: "connect timed out"
        case ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed, ChannelError.eof, ChannelError.inputClosed,
            ChannelError.outputClosed:
            "the connection is closed"
        default: BoringSSLReason.meaning(of: error)?.text ?? "\(error)"
        }
    }
}
