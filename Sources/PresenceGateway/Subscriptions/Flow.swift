import SIPCore

/// Source of a dialog's requests, and destination of ours unless the route set differs.
struct Flow: Hashable {
    var local: TransportAddress
    var remote: TransportAddress
    var connection: ConnectionID?
    /// Identity proven by the sender of the present request.
    var peer: PeerIdentity?

    init(local: TransportAddress, remote: TransportAddress) {
        self.local = local
        self.remote = remote
    }

    init(_ source: MessageSource) {
        local = source.local
        remote = source.remote
        connection = source.connection
        peer = source.peer
    }
}
