import NIOCore
import SIPCore
import SIPSecurity

extension Wires {
    /// Whether one more peer at an address may begin a handshake; one that may not is counted.
    func mayBeginHandshake(from remote: TransportAddress) -> Bool {
        guard let tls = host.tls else { return false }
        if acceptedHandshakes.mayBegin(from: remote.host, limit: tls.settings.maximumHandshakes) { return true }
        host.counters.connectionsRefused &+= 1
        tls.refusedTooMany()
        return false
    }

    func beginHandshake(_ connection: StreamConnection, isAccepted: Bool) {
        guard connection.state == .connecting, connection.handshakeSince == nil else { return }
        connection.handshakeSince = .now()
        if isAccepted { acceptedHandshakes.begin(from: connection.remote.host) }
    }

    /// However it ended.
    func endHandshake(_ connection: StreamConnection) {
        guard connection.handshakeSince != nil else { return }
        connection.handshakeSince = nil
        if connection.isAccepted { acceptedHandshakes.end(from: connection.remote.host) }
    }

    /// The peer has proved what it had to: what waited for that is sent.
    ///
    /// - Parameter identity: nil for a client without a certificate, where that is allowed.
    func secured(_ connection: StreamConnection, as identity: PeerIdentity?, channel: any Channel) {
        guard connection.state == .connecting else { return }
        endHandshake(connection)
        connection.peer = identity
        becomeOpen(connection, channel)
        host.schedulePump()
    }

    /// The handshake failed: nothing was sent, and what waited fails with the diagnosis.
    func unsecured(_ connection: StreamConnection, _ failure: HandshakeFailure) {
        refused(connection, failure.description)
        host.schedulePump()
    }

    /// Closes handshakes that take too long, and warns of certificates that end soon.
    func sweepHandshakes(at now: NIODeadline) {
        guard let tls = host.tls else { return }
        if host.index == 0 { tls.warnOfExpiry(at: host.clock.now()) }
        let oldest = now - tls.settings.handshakeTimeout.amount
        for connection in connections.values {
            guard let since = connection.handshakeSince, since < oldest else { continue }
            let failure = HandshakeFailure(
                .timeout, by: .here, reason: "the handshake was not over after \(tls.settings.handshakeTimeout.seconds) seconds")
            tls.failed(failure, role: connection.isAccepted ? .client : .server, remote: connection.remote)
            let channel = connection.channel
            unsecured(connection, failure)
            channel?.close(promise: nil)
        }
    }
}
