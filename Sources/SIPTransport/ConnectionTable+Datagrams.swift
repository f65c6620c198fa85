import NIOCore
import NIOPosix
import SIPCore

/// Sends messages over UDP.
extension ConnectionTable {
    /// - Parameter isUnnamed: Whether the shard may assume another carrier, and must be notified.
    func sendDatagram(
        _ message: OutboundMessage, to address: TransportAddress, from local: TransportAddress?, for shard: Int, isUnnamed: Bool
    ) {
        // Only an IPv4 literal is certain to have the same spelling as the source of the peer's datagrams.
        let isUnnamed = isUnnamed || !address.isNumeric || address.host.utf8.contains(UInt8(ascii: ":"))
        if let target = resolver.resolved(address) {
            return write(message, to: target, from: local, for: shard, isUnnamed: isUnnamed)
        }
        resolver.resolve(address).assumeIsolated().whenComplete { result in
            switch result {
            case .success(let target):
                self.resolver.store(target, for: address)
                self.write(message, to: target, from: local, for: shard, isUnnamed: isUnnamed)
            case .failure(let error):
                self.fail(message.token, shard, TransportError.reason(error))
            }
            self.host.schedulePump()
        }
    }

    private func write(
        _ message: OutboundMessage, to target: SocketAddress, from local: TransportAddress?, for shard: Int, isUnnamed: Bool
    ) {
        let wantsIPv6 = target.protocol == .inet6
        guard let port = ports.first(where: { $0.local == local }) ?? ports.first(where: { $0.isIPv6 == wantsIPv6 }) else {
            return fail(message.token, shard, "no UDP listener for this kind of address")
        }
        if isUnnamed, message.token != 0, let literal = target.ipAddress {
            host.report(.carried(token: message.token, by: .datagram(host: literal)), to: shard)
        }
        host.counters.messagesSent &+= 1
        host.counters.bytesSent &+= UInt64(message.bytes.count)
        host.tap?.copy(message.bytes, from: port.local, to: target.transportAddress(.udp), at: host.now())
        let envelope = AddressedEnvelope(remoteAddress: target, data: ByteBuffer(bytes: message.bytes))
        var written: EventLoopPromise<Void>?
        if message.token != 0 {
            let promise = host.eventLoop.makePromise(of: Void.self)
            let token = message.token
            promise.futureResult.assumeIsolated().whenFailure { self.fail(token, shard, TransportError.reason($0)) }
            written = promise
        }
        port.channel.write(envelope, promise: written)
        port.isDirty = true
    }
}
