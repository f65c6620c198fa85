import NIOCore
import NIOPosix
import SIPCore

/// Messages over UDP.
extension Wires {
    func sendDatagram(_ message: OutboundMessage, to address: TransportAddress, from local: TransportAddress?, for shard: Int) {
        if let target = resolver.resolved(address) {
            return write(message, to: target, from: local, for: shard)
        }
        resolver.resolve(address).assumeIsolated().whenComplete { result in
            switch result {
            case .success(let target):
                self.resolver.store(target, for: address)
                self.write(message, to: target, from: local, for: shard)
            case .failure(let error):
                self.fail(message.token, shard, "\(address.host): \(TransportError.reason(error))")
            }
            self.host.schedulePump()
        }
    }

    private func write(_ message: OutboundMessage, to target: SocketAddress, from local: TransportAddress?, for shard: Int) {
        let wantsIPv6 = target.protocol == .inet6
        guard let port = ports.first(where: { $0.local == local }) ?? ports.first(where: { $0.isIPv6 == wantsIPv6 }) else {
            return fail(message.token, shard, "no UDP listener for this kind of address")
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
