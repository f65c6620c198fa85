import NIOCore
import NIOSSL
import NIOTLS
import SIPCore
import SIPSecurity

/// Runs one handshake: verifies the peer's certificates, then reports the secured or failed connection to its ``ConnectionTable``.
///
/// Placed after NIOSSL's handler and before ``StreamHandler``, which receives no bytes before the handshake is complete. Confined to its
/// loop.
final class TLSHandshakeHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let connection: StreamConnection
    private let host: ShardHost
    private let service: TLSService
    private let generation: TLSGeneration
    private let demand: TLSGeneration.Demand
    private var proved: PeerProof?
    private var refusal: HandshakeFailure?
    private var isDone = false

    private init(
        connection: StreamConnection, host: ShardHost, service: TLSService, generation: TLSGeneration, demand: TLSGeneration.Demand
    ) {
        self.connection = connection
        self.host = host
        self.service = service
        self.generation = generation
        self.demand = demand
    }

    /// TLS role of the peer.
    private var role: TrustAnchors.Role { demand.role }

    private var expected: [String] { if case .server(let expectation) = demand { expectation.names } else { [] } }

    /// Adds the TLS handlers to an accepted connection; later handlers receive plaintext.
    static func accept(_ channel: any Channel, _ connection: StreamConnection, host: ShardHost, service: TLSService, isStrict: Bool) throws
    {
        let generation = service.generation
        if isStrict { connection.requireCertificate() }
        let handler = TLSHandshakeHandler(
            connection: connection, host: host, service: service, generation: generation,
            demand: isStrict ? .partner : .anybody)
        let tls = NIOSSLServerHandler(
            context: isStrict ? generation.strictServer : generation.lenientServer,
            customVerificationCallback: { chain, promise in promise.succeed(handler.verify(chain)) })
        try channel.pipeline.syncOperations.addHandlers(tls, handler)
    }

    /// Adds the TLS handlers to an outgoing connection; later handlers receive plaintext.
    static func connect(_ channel: any Channel, _ connection: StreamConnection, host: ShardHost, service: TLSService) throws {
        let generation = service.generation
        let handler = TLSHandshakeHandler(
            connection: connection, host: host, service: service, generation: generation,
            demand: .server(generation.settings.expectation(of: connection.remote)))
        let name = connection.remote.provenName ?? connection.remote.host
        let tls = try NIOSSLClientHandler(
            context: generation.client, serverHostname: TransportAddress.isNumeric(name) ? nil : name,
            customVerificationCallback: { chain, promise in promise.succeed(handler.verify(chain)) })
        try channel.pipeline.syncOperations.addHandlers(tls, handler)
    }

    private func verify(_ chain: [NIOSSLCertificate]) -> NIOSSLVerificationResult {
        do throws(HandshakeFailure) {
            proved = try generation.identify(
                chain.map { (try? $0.toDERBytes()) ?? [] }, demand, at: HostClock.wall())
            return .certificateVerified
        } catch {
            refusal = error
            return .failed
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent, !isDone { finish(context) }
        context.fireUserInboundEventTriggered(event)
    }

    private func finish(_ context: ChannelHandlerContext) {
        do throws(HandshakeFailure) {
            if proved == nil, let octets = presented(context) {
                guard role == .client else {
                    throw HandshakeFailure(.other, by: .here, reason: "the server's certificate was not verified")
                }
                proved = try generation.recognise(octets, demand, at: HostClock.wall())
            }
            guard proved != nil || role == .client else {
                throw HandshakeFailure(
                    .noCertificate, by: .here, expected: expected, reason: "the peer showed no certificate")
            }
            // A reload during the handshake is missed by the checks of open connections, so check here.
            let current = service.generation
            if let proof = proved, current !== generation {
                proved = try current.check(proof, again: connection, at: HostClock.wall()).get()
            }
            isDone = true
            service.completed(role, with: proved, at: HostClock.wall())
            host.connectionTable.secured(connection, by: proved, channel: context.channel)
        } catch {
            fail(error, context)
        }
    }

    private func presented(_ context: ChannelHandlerContext) -> [UInt8]? {
        guard let certificate = try? context.pipeline.syncOperations.nioSSL_peerCertificate() else { return nil }
        return (try? certificate.toDERBytes()) ?? []
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let meaning = BoringSSLReason.meaning(of: error)
        guard !isDone else {
            // In TLS 1.3 a server refuses a client certificate only after the client has completed the handshake.
            guard let meaning, meaning.refusedBy == .peer, meaning.kind != .closed else { return context.fireErrorCaught(error) }
            let failure = described(meaning)
            service.failed(failure, role: role, remote: connection.remote)
            host.connectionTable.ended(connection, reason: failure.description)
            return context.close(promise: nil)
        }
        let failure =
            refusal ?? meaning.map { described($0) } ?? HandshakeFailure(.closed, by: .peer, reason: TransportError.reason(error))
        fail(failure, context)
    }

    private func described(_ meaning: BoringSSLReason.Meaning) -> HandshakeFailure {
        // With several own certificates it is unknown here which one the client was shown.
        let isOurs = meaning.refusedBy == .peer && meaning.kind.isOfCertificate
        let own = isOurs && (role == .server || generation.settings.names.isEmpty) ? generation.settings.identity.chain[0] : nil
        return HandshakeFailure(
            meaning.kind, by: meaning.refusedBy, certificate: own, expected: expected, reason: meaning.text)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if !isDone {
            fail(HandshakeFailure(.closed, by: .peer, reason: "the peer closed the connection during the handshake"), context)
        }
        context.fireChannelInactive()
    }

    /// Reports a failed handshake and closes the channel; later failures are ignored.
    private func fail(_ failure: HandshakeFailure, _ context: ChannelHandlerContext) {
        guard !isDone else { return }
        isDone = true
        if !connection.isClosed { service.failed(failure, role: role, remote: connection.remote) }
        host.connectionTable.unsecured(connection, failure)
        context.close(promise: nil)
    }
}
