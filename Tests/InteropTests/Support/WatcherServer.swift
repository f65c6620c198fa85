import Foundation
import GatewayTesting
import Logging
import NIOCore
import SIPCore
import SIPSecurity
import SIPTransport
import ScriptedPeers

/// Server of a domain with several watchers: all use one address, and one connection where there is one. It can be stopped for a while; its
/// watchers keep their dialogs.
final class WatcherServer {
    let watchers: [SimpleWatcher]
    private let address: TransportAddress
    private let crowd: Crowd
    private let settings: TLSSettings?
    private var server: SIPServer?

    /// - Parameters:
    ///   - domain: Domain of the watchers.
    ///   - gateway: Address for their requests, with the name that it must prove over TLS.
    ///   - secure: Certificates, and the name of the server's own; nil for no TLS.
    init(
        _ count: Int, of presentity: String, in domain: String, at port: Int, gateway: TransportAddress,
        secure: (PartnerCertificates, name: String)? = nil
    ) throws {
        let address = TransportAddress(gateway.transport, "127.0.0.1", port)
        self.address = address
        watchers = (0..<count).map { index in
            SimpleWatcher(
                name: "watcher\(index)", watcher: "sip:carol\(index)@\(domain)", presentity: presentity, address: address, nextHop: gateway,
                seed: UInt64(100 + index))
        }
        crowd = Crowd(watchers, gateway: gateway)
        settings = try secure.map { certificates, name in
            let identity = try TLSSettings.Identity(
                chainPEM: [UInt8](Data(contentsOf: certificates.certificate(name))),
                keyPEM: [UInt8](Data(contentsOf: certificates.key(name))),
                at: Instant(secondsSince1970: Int64(Date().timeIntervalSince1970)))
            let roots = Certificate.all(inPEM: [UInt8](try Data(contentsOf: certificates.roots)))
            return TLSSettings(identity: identity, roots: [PeerIdentity.commonRoots: roots])
        }
    }

    /// Starts listening, also again after ``leave()``.
    func come() async throws {
        let logger = Logger(label: "watchers", factory: { _ in SwiftLogNoOpLogHandler() })
        let crowd = crowd
        server = try await SIPServer.start(
            listening: [address], logger: logger, tls: try settings.map { try TLSService($0, logger: logger) }
        ) { _ in crowd }
    }

    /// Closes its connections and its port.
    func leave() async {
        await server?.stop()
        server = nil
    }

    func act(_ body: @escaping @Sendable (SimpleWatcher, Instant) -> Void) async throws {
        guard let server else { return }
        let crowd = crowd
        try await server.shards[0].perform { _, now in crowd.each { body($0, now) } }.get()
    }

    /// Waits until a condition holds for every watcher.
    func all(within seconds: Double = 60, _ condition: (SimpleWatcher) -> Bool) async -> Bool {
        await eventually(within: seconds) {
            var holds = true
            crowd.each { holds = holds && condition($0) }
            return holds
        }
    }

    var account: String {
        var lines: [String] = []
        crowd.each { lines.append("\($0.name): \($0.phase), \($0.presence?.notes ?? []), \($0.lastResponse?.status.rawValue ?? 0)") }
        return lines.joined(separator: "\n")
    }
}

/// Several peers at one address: each receives the responses to its requests, and the requests of its dialogs.
private final class Crowd: SansIOEndpoint, @unchecked Sendable {
    private let peers: [SimpleWatcher]
    private let gateway: TransportAddress
    private let lock = NSLock()
    private var callIDs: [String: Int] = [:]

    init(_ peers: [SimpleWatcher], gateway: TransportAddress) {
        self.peers = peers
        self.gateway = gateway
    }

    func each(_ body: (SimpleWatcher) -> Void) { lock.withLock { for peer in peers { body(peer) } } }

    func receive(_ message: InboundMessage, at now: Instant) {
        lock.withLock {
            guard let callID = Self.callID(of: message.bytes), let index = callIDs[callID] else { return }
            peers[index].receive(message, at: now)
        }
    }

    func receive(_ notice: TransportNotice, at now: Instant) {
        lock.withLock {
            guard case .failed(let token, let reason) = notice else {
                for peer in peers { peer.receive(notice, at: now) }
                return
            }
            let index = Int(token >> 32)
            if peers.indices.contains(index) { peers[index].receive(.failed(token: token & 0xFFFF_FFFF, reason: reason), at: now) }
        }
    }

    func advance(to now: Instant) { lock.withLock { for peer in peers { peer.advance(to: now) } } }

    var nextDeadline: Instant? { lock.withLock { peers.compactMap(\.nextDeadline).min() } }

    func takeOutput() -> [OutboundMessage] {
        lock.withLock {
            peers.indices.flatMap { index in
                peers[index].takeOutput().map { message in
                    var message = message
                    if let callID = Self.callID(of: message.bytes) { callIDs[callID] = index }
                    if message.token != 0 { message.token |= UInt64(index) << 32 }
                    message.destination = proven(message.destination)
                    return message
                }
            }
        }
    }

    /// The gateway must prove the same name for every Contact.
    private func proven(_ destination: Destination) -> Destination {
        func proven(_ address: TransportAddress) -> TransportAddress {
            var address = address
            address.provenName = gateway.provenName
            return address
        }
        switch destination {
        case .address(let address, let local): return .address(proven(address), from: local)
        case .connection(let connection, let fallback): return .connection(connection, fallback: fallback.map(proven))
        }
    }

    private static func callID(of bytes: [UInt8]) -> String? {
        switch SIPParser.parse(bytes, framing: .stream) {
        case .success(.request(let request)): request.headers.callID
        case .success(.response(let response)): response.headers.callID
        case .failure: nil
        }
    }
}
