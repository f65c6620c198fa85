import NIOCore
import SIPCore
import SIPSecurity

extension Wires {
    /// Whether one more peer at an address may begin a handshake; one that may not is counted.
    func mayBeginHandshake(from remote: TransportAddress) -> Bool {
        guard let tls = host.tls else { return false }
        if acceptedHandshakes.mayBegin(from: .init(host: remote.host), limit: tls.settings.maximumHandshakes) { return true }
        host.counters.connectionsRefused &+= 1
        tls.refusedTooMany()
        return false
    }

    func beginHandshake(_ connection: StreamConnection, isAccepted: Bool) {
        guard connection.state == .connecting, connection.handshakeSince == nil else { return }
        connection.handshakeSince = .now()
        if isAccepted { acceptedHandshakes.begin(from: .init(host: connection.remote.host)) }
    }

    /// However it ended.
    func endHandshake(_ connection: StreamConnection) {
        guard connection.handshakeSince != nil else { return }
        connection.handshakeSince = nil
        if connection.isAccepted { acceptedHandshakes.end(from: .init(host: connection.remote.host)) }
    }

    /// The peer has proved what it had to: what waited for that is sent.
    ///
    /// - Parameter proof: nil for a client without a certificate, where that is allowed.
    func secured(_ connection: StreamConnection, by proof: PeerProof?, channel: any Channel) {
        guard connection.state == .connecting else { return }
        endHandshake(connection)
        connection.peer = proof?.identity
        connection.proof = proof
        if connection.isAccepted, let proof { host.reusable.add(connection.id, of: proof.identity, at: connection.remote.host) }
        becomeOpen(connection, channel)
        host.schedulePump()
    }

    /// A partner that says in a request over its own connection where it takes requests takes them over this one too.
    func noteAlias(_ connection: StreamConnection, _ bytes: [UInt8]) {
        guard connection.aliasChances > 0, connection.isAccepted, connection.peer != nil, !bytes.starts(with: Array("SIP/2.0 ".utf8))
        else { return }
        connection.aliasChances -= 1
        guard case .success(.request(let request)) = SIPParser.parse(bytes, framing: .stream), let via = request.headers.topVia,
            let alias = ReusableConnections.Alias(via)
        else { return }
        connection.aliasChances = 0
        host.reusable.announce(alias, on: connection.id)
    }

    /// Sends over a connection that the partner at this address has opened.
    /// - Returns: false when there is none.
    func reuse(_ message: QueuedMessage, toward address: TransportAddress) -> Bool {
        guard address.transport == .tls, let tls = host.tls else { return false }
        guard let id = host.reusable.connection(toward: address, proving: tls.settings.expectation(of: address)) else { return false }
        host.counters.sendsOverReused &+= 1
        // Of another loop it may have ended meanwhile: then that loop finds a way.
        let outbound = OutboundMessage(
            bytes: message.bytes, destination: .connection(id, fallback: address), token: message.token, connectPatience: message.patience)
        send(outbound, for: message.shard, isUnnamed: true)
        return true
    }

    /// The handshake failed: nothing was sent, and what waited fails with the diagnosis.
    func unsecured(_ connection: StreamConnection, _ failure: HandshakeFailure) {
        refused(connection, failure.description)
        host.schedulePump()
    }

    /// Closes handshakes that take too long, and warns of certificates that end soon.
    func sweepHandshakes(at now: NIODeadline) {
        guard let tls = host.tls else { return }
        if host.index == 0 { tls.warnOfExpiry(at: HostClock.wall()) }
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
