import Logging
import NIOCore
import SIPCore

/// One UDP socket of one loop.
final class DatagramPort {
    let local: TransportAddress
    let channel: any Channel
    let isIPv6: Bool
    private var isDirty = false

    init(local: TransportAddress, channel: any Channel) {
        self.local = local
        self.channel = channel
        isIPv6 = channel.localAddress?.protocol == .inet6
    }

    func write(_ envelope: AddressedEnvelope<ByteBuffer>, promise: EventLoopPromise<Void>?) {
        channel.write(envelope, promise: promise)
        isDirty = true
    }

    func flush() {
        guard isDirty else { return }
        isDirty = false
        channel.flush()
    }
}

/// Reads the datagrams of one socket; each is one message (RFC 3261 18.3).
final class DatagramHandler: ChannelInboundHandler, RestingReader {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let host: ShardHost
    private var local: TransportAddress?
    private var peers = PeerAddressCache()
    private var shares = DatagramShares()

    init(host: ShardHost) {
        self.host = host
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = unwrapInboundIn(data)
        host.counters.bytesReceived &+= UInt64(envelope.data.readableBytes)
        // Ignore datagrams of CR, LF and NUL only: peers send them to keep a NAT binding open (RFC 5626 3.5.1 defines this for streams;
        // over UDP it is common practice).
        guard envelope.data.readableBytesView.contains(where: { $0 != 13 && $0 != 10 && $0 != 0 }) else { return }
        let local = local ?? context.channel.localAddress?.transportAddress(.udp) ?? TransportAddress(.udp, "", 0)
        self.local = local
        let message = InboundMessage(
            bytes: Array(buffer: envelope.data), local: local, remote: peers.address(of: envelope.remoteAddress))
        let wasEmpty = shares.isEmpty
        switch shares.take(message, share: host.options.messagesPerTick, in: host.scheduler.tick) {
        case .now:
            host.receive(message)
        case .later:
            if wasEmpty {
                host.counters.readsPaused &+= 1
                host.scheduler.rest(self)
            }
        case .dropped:
            host.counters.datagramsDropped &+= 1
        }
    }

    func resume() {
        for message in shares.nextRound(share: host.options.messagesPerTick) { host.receive(message) }
        if !shares.isEmpty { host.scheduler.rest(self) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // An unconnected socket reports ICMP errors of single peers here; the socket itself still works.
        host.logger.debug("datagram socket error", metadata: ["error": "\(error)"])
    }
}
