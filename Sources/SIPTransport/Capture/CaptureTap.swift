import NIOCore
import NIOPosix
import SIPCore

/// Collector that receives a copy of every SIP message, in clear text for TLS connections too; only for the operator's network.
package struct CaptureOptions: Hashable, Sendable {
    /// Address of the collector; packets are sent over UDP.
    package var collector: TransportAddress
    /// Capture agent id of this node (chunk 12 of HEP3).
    package var agent: UInt32
    /// Password sent in the `auth-key` chunk; nil omits the chunk.
    package var password: String?

    /// Creates options; the agent id defaults to 2001, and no password is sent by default.
    package init(collector: TransportAddress, agent: UInt32 = 2_001, password: String? = nil) {
        self.collector = collector
        self.agent = agent
        self.password = password
    }
}

/// Sends copies of one loop's messages to a collector, as HEP3 over UDP.
///
/// Capturing never delays the original message: copies that the socket cannot take immediately are dropped and counted. Confined to its
/// loop.
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

    /// Opens a socket for the copies of one loop and sets it as the tap of `host`.
    /// - Throws: `TransportError` naming the collector, when its host cannot be resolved or the socket cannot be opened.
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
                host.capture(by: CaptureTap(options: options, channel: channel, target: target, host: host))
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
        // An absent collector causes ICMP errors, which are ignored.
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
