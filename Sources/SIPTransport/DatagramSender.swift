import NIOCore
import NIOPosix
import SIPCore

/// Sends the messages of one loop over UDP. Failures are reported to the shard that sent the message.
final class DatagramSender {
    private unowned let host: ShardHost
    private let resolver: AddressResolver
    private(set) var ports: [DatagramPort] = []
    private var largeRequests: LargeRequestRule

    init(host: ShardHost, resolver: AddressResolver) {
        self.host = host
        self.resolver = resolver
        largeRequests = LargeRequestRule(options: host.options)
    }

    func add(_ port: DatagramPort) { ports.append(port) }

    /// The request with its Via changed to TCP, if it is too large for UDP; nil when it stays on UDP.
    func moved(_ message: OutboundMessage, to address: TransportAddress) -> [UInt8]? {
        largeRequests.moved(message, to: address, at: .now())
    }

    /// Records that a peer refused a large request over TCP; returns true when that was not known already.
    func refusedTCP(_ address: TransportAddress) -> Bool { largeRequests.refused(address, at: .now()) }

    /// - Parameter isUnnamed: Whether the shard may assume another carrier, and must be notified.
    func send(
        _ message: OutboundMessage, to address: TransportAddress, from local: TransportAddress?, for shard: Int, isUnnamed: Bool = false
    ) {
        // Only an IPv4 literal is certain to have the same spelling as the source of the peer's datagrams.
        // An earlier transmission of a large request may have used TCP.
        let isUnnamed = isUnnamed || largeRequests.isLarge(message) || !address.isNumeric || address.host.utf8.contains(UInt8(ascii: ":"))
        if let target = resolver.resolved(address) {
            return write(message, to: target, from: local, for: shard, isUnnamed: isUnnamed)
        }
        resolver.resolve(address).assumeIsolated().whenComplete { result in
            switch result {
            case .success(let target):
                self.resolver.store(target, for: address)
                self.write(message, to: target, from: local, for: shard, isUnnamed: isUnnamed)
            case .failure(let error):
                self.host.fail(message.token, shard, TransportError.reason(error))
            }
            self.host.schedulePump()
        }
    }

    private func write(
        _ message: OutboundMessage, to target: SocketAddress, from local: TransportAddress?, for shard: Int, isUnnamed: Bool
    ) {
        let wantsIPv6 = target.protocol == .inet6
        guard let port = ports.first(where: { $0.local == local }) ?? ports.first(where: { $0.isIPv6 == wantsIPv6 }) else {
            return host.fail(message.token, shard, "no UDP listener for this kind of address")
        }
        if isUnnamed, message.token != 0, let literal = target.ipAddress {
            host.report(.carried(token: message.token, by: .datagram(host: literal)), to: shard)
        }
        host.counters.messagesSent &+= 1
        host.counters.bytesSent &+= UInt64(message.bytes.count)
        host.copy(message.bytes, isReceived: false, remote: target.transportAddress(.udp), local: port.local)
        let envelope = AddressedEnvelope(remoteAddress: target, data: ByteBuffer(bytes: message.bytes))
        var written: EventLoopPromise<Void>?
        if message.token != 0 {
            let promise = host.eventLoop.makePromise(of: Void.self)
            let token = message.token
            promise.futureResult.assumeIsolated().whenFailure { self.host.fail(token, shard, TransportError.reason($0)) }
            written = promise
        }
        port.write(envelope, promise: written)
    }

    /// Flushes the output of a tick.
    func flush() {
        for port in ports { port.flush() }
    }
}
