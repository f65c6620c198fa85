import NIOCore
import SIPCore
import SIPSecurity

extension ConnectionTable {
    /// Whether a peer may begin another handshake; a refusal is counted.
    func mayBeginHandshake(from remote: TransportAddress) -> Bool {
        guard let tls = host.tls else { return false }
        if acceptedHandshakes.mayBegin(from: .init(host: remote.host), limit: tls.settings.maximumHandshakes) { return true }
        host.counters.connectionsRefused &+= 1
        tls.refusedTooMany()
        return false
    }

    func beginHandshake(_ connection: StreamConnection, isAccepted: Bool) {
        guard connection.beginHandshake() else { return }
        if isAccepted { acceptedHandshakes.begin(from: .init(host: connection.remote.host)) }
    }

    /// Removes a handshake from the counts, after success or failure.
    func endHandshake(_ connection: StreamConnection) {
        guard connection.endHandshake() else { return }
        if connection.isAccepted { acceptedHandshakes.end(from: .init(host: connection.remote.host)) }
    }

    /// Opens a connection after its handshake, and sends the messages that waited for it.
    ///
    /// - Parameter proof: nil for a client without a certificate, where this is allowed.
    func secured(_ connection: StreamConnection, by proof: PeerProof?, channel: any Channel) {
        guard connection.life.isConnecting else { return }
        endHandshake(connection)
        _ = connection.proved(by: proof)
        if connection.isAccepted, let proof { host.reusable.add(connection.id, of: proof.identity, at: connection.remote.host) }
        becomeOpen(connection, channel)
        host.schedulePump()
    }

    /// Reads the `alias` parameter in a request of a partner: requests to the address in that Via may then use this connection (RFC 5923).
    func noteAlias(_ connection: StreamConnection, _ bytes: [UInt8]) {
        guard connection.looksForAlias, !bytes.starts(with: "SIP/2.0 ".utf8) else { return }
        connection.inspectedForAlias()
        guard case .success(.request(let request)) = SIPParser.parse(bytes, framing: .stream), let via = request.headers.topVia,
            let alias = ReusableConnections.Alias(via)
        else { return }
        connection.foundAlias()
        host.reusable.announce(alias, on: connection.id)
    }

    /// Sends over a connection that the partner at this address opened.
    /// - Returns: Whether there was such a connection.
    func reuse(_ message: QueuedMessage, toward address: TransportAddress) -> Bool {
        guard address.transport == .tls, let tls = host.tls else { return false }
        guard let id = host.reusable.connection(toward: address, proving: tls.settings.expectation(of: address)) else { return false }
        host.counters.sendsOverReused &+= 1
        // A connection of another loop may be closed by now; that loop then uses the fallback address.
        let outbound = OutboundMessage(
            bytes: message.bytes, destination: .connection(id, fallback: address), token: message.token, connectPatience: message.patience)
        send(outbound, for: message.shard, isUnnamed: true)
        return true
    }

    /// Fails the messages that waited for a connection after its handshake failed; none of them was sent.
    func unsecured(_ connection: StreamConnection, _ failure: HandshakeFailure) {
        refused(connection, failure.description)
        host.schedulePump()
    }

    /// Closes connections with a handshake over its time limit, and warns of certificates that expire soon.
    func sweepHandshakes(at now: NIODeadline) {
        guard let tls = host.tls else { return }
        if host.index == 0 { tls.warnOfExpiry(at: HostClock.wall()) }
        let oldest = now - tls.settings.handshakeTimeout.amount
        for connection in connections.all {
            guard let since = connection.life.handshakeSince, since < oldest else { continue }
            let failure = HandshakeFailure(
                .timeout, by: .here, reason: "the handshake was not over after \(tls.settings.handshakeTimeout.seconds) seconds")
            tls.failed(failure, role: connection.isAccepted ? .client : .server, remote: connection.remote)
            let channel = connection.channel
            unsecured(connection, failure)
            channel?.close(promise: nil)
        }
    }
}
