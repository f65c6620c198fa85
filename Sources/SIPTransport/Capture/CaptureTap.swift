import NIOCore
import NIOPosix
import SIPCore

/// Where a copy of every SIP message goes, in the clear whatever the transport; for an operator's own eyes only.
public struct CaptureOptions: Hashable, Sendable {
    /// The collector; UDP.
    public var collector: TransportAddress
    /// The number by which the collector knows this node.
    public var agent: UInt32
    /// What the collector asks of its agents (the `auth-key` of the protocol); nil: nothing.
    public var password: String?

    public init(collector: TransportAddress, agent: UInt32 = 2_001, password: String? = nil) {
        self.collector = collector
        self.agent = agent
        self.password = password
    }
}

/// Sends copies of one loop's messages to a collector, as HEP3 over UDP.
///
/// The copy never holds up the original: what the socket does not take at once is dropped and counted. Confined to its loop.
final class CaptureTap {
    private let options: CaptureOptions
    private let channel: any Channel
    private let target: SocketAddress
    private unowned let host: ShardHost
    private var isDirty = false

    private init(options: CaptureOptions, channel: any Channel, target: SocketAddress, host: ShardHost) {
        self.options = options
        self.channel = channel
        self.target = target
        self.host = host
    }

    /// Opens a socket for the copies of one loop and gives it to the loop's host.
    /// - Throws: `TransportError` naming the collector when it cannot be resolved, or the socket not be opened.
    static func open(_ options: CaptureOptions, on host: ShardHost) async throws {
        let target: SocketAddress
        do {
            target = try await AddressResolver(loop: host.eventLoop).resolve(options.collector).get()
        } catch {
            throw TransportError(.unresolvableHost, options.collector, "the collector has no address: \(TransportError.reason(error))")
        }
        do {
            let channel = try await DatagramBootstrap(group: host.eventLoop)
                .channelOption(ChannelOptions.writeBufferWaterMark, value: .init(low: 1 << 20, high: 4 << 20))
                .bind(to: try SocketAddress(ipAddress: target.protocol == .inet6 ? "::" : "0.0.0.0", port: 0)).get()
            try await host.eventLoop.submit {
                host.tap = CaptureTap(options: options, channel: channel, target: target, host: host)
            }.get()
        } catch {
            throw TransportError(.failed, options.collector, "cannot open a socket to the collector: \(TransportError.reason(error))")
        }
    }

    func copy(_ bytes: [UInt8], from source: TransportAddress, to target: TransportAddress, at now: Instant) {
        guard channel.isWritable else {
            host.counters.captureDropped &+= 1
            return
        }
        let packet = HEPPacket(
            source: source, target: target, time: now, agent: options.agent, password: options.password, payload: bytes)
        let (copy, isCut) = packet.serialized()
        host.counters.captured &+= 1
        if isCut { host.counters.captureCut &+= 1 }
        // A collector that is away answers by ICMP; nobody needs to hear of it.
        channel.write(AddressedEnvelope(remoteAddress: self.target, data: ByteBuffer(bytes: copy)), promise: nil)
        isDirty = true
    }

    func flush() {
        guard isDirty else { return }
        isDirty = false
        channel.flush()
    }

    func close() -> EventLoopFuture<Void> { channel.close() }
}
