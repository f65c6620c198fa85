import SIPCore

/// The record that sends a request, and the properties that are needed after the record is gone.
struct RequestOrigin {
    let ticket: Ticket
    /// Number of the attempt; opaque to the kernel.
    var mark: UInt64 = 0
    /// Partner to which the request is sent; nil: none.
    var partner: String?
    /// Domain that a missing response puts in doubt; nil: it concerns the record only.
    var domain: String?
    /// Host from which the remote end of the dialog sends datagrams; it may answer from there.
    var sourceHost: String?
    /// Whether only the status of the response matters.
    var isBrief = false
    /// Whether a copy is kept until the response, so that a redirection can be followed.
    var isRepeatable = false
}

/// Why a request got no response.
enum DeliveryFailure: Hashable, Sendable {
    /// The transport did not deliver it: connection refused or reset, no route, TLS failure.
    case transport
    /// It was sent, and no response came in time (RFC 3261 17.1.2.2).
    case silence
}

/// A request that waits for its response.
struct PendingRequest {
    let origin: RequestOrigin
    let method: SIPMethod
    let sentAt: Instant
    /// Connection on which it was sent; nil: it was sent by address.
    let connection: ConnectionID?
    /// Copy for sending it again; nil: not repeated, whatever the response.
    var repeatable: RepeatableRequest?
}

/// A sent request, kept until its response in case it is repeated with credentials or after a redirection.
struct RepeatableRequest {
    /// The request without our Via and without credentials from a kept nonce.
    var request: SIPRequest
    var destination: Destination
    var transport: TransportProtocol
    var own: TransactionLayer.HostPort
    /// Whether it already answers a challenge, so that it is not repeated.
    var isRepeated: Bool
}

extension Destination {
    /// The connection to send on; nil: sent by address.
    var connection: ConnectionID? {
        if case .connection(let connection, _) = self { connection } else { nil }
    }
}
