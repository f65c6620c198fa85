import Glibc
import NIOCore
import NIOPosix
import SIPCore

/// Error at the start of the transport; caused by configuration or system, never by a peer.
package struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Category of the error.
    package enum Code: String, Hashable, Sendable {
        case addressInUse, addressNotAvailable, notPermitted, unsupportedTransport, unresolvableHost, failed
    }

    /// Category of the error, for decisions of the caller.
    package var code: Code
    /// Listener or collector that failed.
    package var address: TransportAddress
    /// Explanation for the operator.
    package var reason: String

    /// Creates an error from its parts.
    package init(_ code: Code, _ address: TransportAddress, _ reason: String) {
        self.code = code
        self.address = address
        self.reason = reason
    }

    /// Address and reason.
    package var description: String { "\(address): \(reason)" }

    /// Describes a socket error in the system's words, without the wrappers of NIO.
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
