import Glibc
import Logging
import NIOCore
import NIOPosix
import SIPCore

/// Describes the shard for which an endpoint is created.
public struct ShardContext: Sendable {
    /// Number of the shard, from 0.
    public var index: Int
    /// Number of shards of the server, at least 1.
    public var count: Int
    /// All listeners with their bound ports, in the order of the configuration.
    public var listeners: [TransportAddress]
    /// Current time by the server's clock.
    package var now: Instant
}

/// Runs SIP over UDP, TCP and TLS for any `SansIOEndpoint`: owns the listeners, the event loops and their shards.
///
/// Every loop has its own socket for each UDP listener (SO_REUSEPORT); accepted connections are assigned to the loops in turn. Reading
/// starts only when all listeners are bound and all shards have an endpoint.
public final class SIPServer: Sendable {
    /// Bound addresses in the order of the configuration, with the port that was assigned where 0 was requested.
    public let listeners: [TransportAddress]
    /// Shards, one for each event loop, in the order of their index.
    package let shards: [ShardHost]
    /// Clock that all shards share.
    package let clock: HostClock
    private let group: MultiThreadedEventLoopGroup
    private let acceptors: [any Channel]
    private let logger: Logger

    /// Binds all listeners and starts the shards.
    ///
    /// - Parameters:
    ///   - addresses: Listeners; port 0 selects a free port.
    ///   - tls: Required for TLS listeners and for sending over TLS.
    ///   - shardCount: Number of event loops and endpoints, at least 1.
    ///   - selector: Required when there is more than one shard.
    ///   - names: Answers DNS questions of endpoints; without it every question fails.
    ///   - afterTick: Runs on the shard's loop after each tick, for example to drain logs, with the endpoint and its shard.
    ///   - makeEndpoint: Creates the endpoint of a shard on that shard's loop; the endpoint never leaves it.
    /// - Throws: `TransportError` naming the listener or the capture collector that could not be opened.
    public static func start(
        listening addresses: [TransportAddress], shardCount: Int = 1, options: TransportOptions = TransportOptions(),
        logger: Logger, tls: TLSService? = nil, selector: ShardSelector? = nil,
        names: (any NameResolving)? = nil,
        afterTick: (@Sendable (any SansIOEndpoint, ShardHost) -> Void)? = nil,
        makeEndpoint: @escaping @Sendable (ShardContext) -> any SansIOEndpoint
    ) async throws -> SIPServer {
        precondition(shardCount == 1 || (shardCount > 1 && selector != nil), "several shards need a selector")
        let group = MultiThreadedEventLoopGroup(numberOfThreads: shardCount)
        let clock = HostClock()
        let shared = ShardHost.ServerParts(logger: logger, tls: tls)
        let shards = group.makeIterator().enumerated().map {
            ShardHost(
                index: $0.offset, eventLoop: $0.element, options: options, clock: clock, shared: shared)
        }
        let binder = ListenerBinder(group: group, shards: shards, options: options, logger: logger)
        do {
            var listeners: [TransportAddress] = []
            for address in addresses { listeners.append(try await binder.bind(address)) }
            let bound = listeners
            if let capture = options.capture {
                for shard in shards { try await CaptureTap.open(capture, on: shard) }
            }
            for shard in shards {
                try await shard.eventLoop.submit {
                    let context = ShardContext(index: shard.index, count: shards.count, listeners: bound, now: clock.now())
                    shard.begin(makeEndpoint(context), among: shards, selector: selector, names: names, afterTick: afterTick)
                }.get()
            }
            let acceptors = binder.opened
            for channel in acceptors { try await channel.setOption(.autoRead, value: true).get() }
            return SIPServer(
                listeners: listeners, shards: shards, clock: clock, group: group, acceptors: acceptors, logger: logger)
        } catch {
            for channel in binder.opened { try? await channel.close() }
            try? await group.shutdownGracefully()
            throw error
        }
    }

    private init(
        listeners: [TransportAddress], shards: [ShardHost], clock: HostClock, group: MultiThreadedEventLoopGroup,
        acceptors: [any Channel], logger: Logger
    ) {
        self.listeners = listeners
        self.shards = shards
        self.clock = clock
        self.group = group
        self.acceptors = acceptors
        self.logger = logger
    }

    /// Returns the summed counters of all loops, the number of connections, and the octets of incomplete messages they hold.
    package func statistics() async -> (
        counters: TransportCounters, lateness: DurationHistogram, connections: Int, unfinishedOctets: Int
    ) {
        var sum = TransportCounters()
        var lateness = DurationHistogram()
        var (connections, unfinishedOctets) = (0, 0)
        for shard in shards {
            guard let part = try? await shard.statistics().get() else { continue }
            sum = sum + part.counters
            lateness.add(part.lateness)
            connections += part.connections
            unfinishedOctets += part.unfinishedOctets
        }
        return (sum, lateness, connections, unfinishedOctets)
    }

    /// Checks all connections against the TLS settings in use and closes those with a peer certificate that is no longer accepted; call it
    /// after a reload. Periodic sweeps do the same within 5 s.
    package func checkPeers() async {
        for shard in shards { try? await shard.eventLoop.submit { shard.connectionTable.checkPeers(at: HostClock.wall()) }.get() }
    }

    /// Closes the selected open connections of all loops.
    /// - Parameter isMeant: Selects connections; runs on the connection's loop with its endpoint, the remote address, the peer's TLS
    ///   identity and the time.
    /// - Returns: The number of closed connections.
    package func closeConnections(
        reason: String, where isMeant: @escaping @Sendable (any SansIOEndpoint, TransportAddress, PeerIdentity?, Instant) -> Bool
    ) async -> Int {
        var count = 0
        for shard in shards {
            let closed = try? await shard.perform { endpoint, now in
                shard.connectionTable.close(reason: reason) { isMeant(endpoint, $0.remote, $0.peer, now) }
            }.get()
            count += closed ?? 0
        }
        return count
    }

    /// Progress of an endpoint that was asked to stop.
    public enum StopProgress: Equatable, Sendable {
        /// The endpoint has work left.
        case busy
        /// Only this number of responses of peers is missing.
        case awaitingPeers(Int)
        /// Nothing is left to do.
        case finished
    }

    /// Time without a response and without output after which missing peers count as silent; a UDP client retransmits a request once within
    /// it (T1 is 500 ms, RFC 3261 17.1.2.2).
    private static let silence = TimeSpan.milliseconds(700)

    /// Stops the server: asks every endpoint to finish, serves until all have finished, `drain` is over, or the awaited peers are silent
    /// for 700 ms; then closes all sockets and ends the loops.
    public func stop(
        drain: TimeSpan = .zero, asking: (@Sendable (any SansIOEndpoint, Instant) -> Void)? = nil,
        progress: (@Sendable (any SansIOEndpoint) -> StopProgress)? = nil
    ) async {
        if let asking {
            for shard in shards { try? await shard.perform(asking).get() }
        }
        let end = clock.now() + drain
        // Minima so far: only a new minimum is progress, since other peers may send meanwhile.
        var (fewestAnswers, fewestOctets) = (Int.max, Int.max)
        var quietFrom = clock.now()
        while clock.now() < end {
            var (answers, octets, isBusy) = (0, 0, false)
            for shard in shards {
                octets += (try? await shard.waitingOctets().get()) ?? 0
                guard let progress else { continue }
                switch try? await shard.perform({ endpoint, _ in progress(endpoint) }).get() {
                case .busy: isBusy = true
                case .awaitingPeers(let missing): answers += missing
                case .finished, nil: break
                }
            }
            if !isBusy, answers == 0, octets == 0 { break }
            if isBusy || answers < fewestAnswers || octets < fewestOctets { quietFrom = clock.now() }
            if clock.now() - quietFrom >= Self.silence { break }
            (fewestAnswers, fewestOctets) = (min(answers, fewestAnswers), min(octets, fewestOctets))
            try? await Task.sleep(for: .milliseconds(20))
        }
        for channel in acceptors { try? await channel.close() }
        let closing = shards.map { $0.stop() }
        var isClosed = true
        for end in closing where (try? await end.get()) != true { isClosed = false }
        // Do not wait for TLS peers that do not answer close_notify (RFC 8446 6.1).
        if isClosed { try? await group.shutdownGracefully() } else { group.shutdownGracefully { _ in } }
    }
}

/// Error that makes the bootstrap close a connection that was not admitted.
private struct TooManyConnections: Error {}

/// Binds listeners with reading disabled, so that no message is read before the shards are ready.
private final class ListenerBinder {
    private let group: MultiThreadedEventLoopGroup
    private let shards: [ShardHost]
    private let options: TransportOptions
    private let logger: Logger
    private(set) var opened: [any Channel] = []

    init(group: MultiThreadedEventLoopGroup, shards: [ShardHost], options: TransportOptions, logger: Logger) {
        self.group = group
        self.shards = shards
        self.options = options
        self.logger = logger
    }

    func bind(_ address: TransportAddress) async throws -> TransportAddress {
        guard address.transport != .tls || shards.allSatisfy({ $0.tls != nil }) else {
            throw TransportError(.unsupportedTransport, address, "TLS is not configured")
        }
        guard (0...65_535).contains(address.port) else {
            throw TransportError(.addressNotAvailable, address, "the port is not between 0 and 65535")
        }
        let socketAddress: SocketAddress
        do {
            let resolver = AddressResolver(loop: group.any())
            if let known = resolver.resolved(address) {
                socketAddress = known
            } else {
                socketAddress = try await resolver.resolve(address).get()
            }
        } catch {
            throw TransportError(.unresolvableHost, address, "the host has no address: \(TransportError.reason(error))")
        }
        do {
            switch address.transport {
            case .udp: return try await bindUDP(socketAddress)
            case .tcp, .tls:
                return try await bindStream(
                    socketAddress, transport: address.transport, isStrict: !options.optionalCertificateListeners.contains(address))
            }
        } catch let error as IOError {
            throw TransportError(Self.code(of: error), address, "cannot listen: \(TransportError.reason(error))")
        }
    }

    private static func code(of error: IOError) -> TransportError.Code {
        switch error.errnoCode {
        case EADDRINUSE: .addressInUse
        case EADDRNOTAVAIL: .addressNotAvailable
        case EACCES, EPERM: .notPermitted
        default: .failed
        }
    }

    /// A listener at `[::]` accepts IPv6 only (RFC 3493 5.3), so that one at `0.0.0.0` may use the same port.
    private static let isIPv6Only = ChannelOptions.Types.SocketOption(level: .ipv6, name: .ipv6_v6only)

    private func bindUDP(_ address: SocketAddress) async throws -> TransportAddress {
        var address = address
        for shard in shards {
            let bootstrap = DatagramBootstrap(group: shard.eventLoop)
                .channelOption(ChannelOptions.autoRead, value: false)
                .channelOption(
                    ChannelOptions.Types.SocketOption(level: .socket, name: .init(rawValue: SO_REUSEPORT)), value: shards.count > 1 ? 1 : 0
                )
                .channelOption(ChannelOptions.socketOption(.so_rcvbuf), value: 4 << 20)
                .channelOption(ChannelOptions.datagramVectorReadMessageCount, value: options.datagramsPerRead)
                .channelOption(
                    ChannelOptions.recvAllocator,
                    value: FixedSizeRecvByteBufferAllocator(capacity: options.datagramsPerRead * 65_536)
                )
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(DatagramHandler(host: shard))
                    }
                }
            if address.protocol == .inet6 { _ = bootstrap.channelOption(Self.isIPv6Only, value: 1) }
            let channel = try await bootstrap.bind(to: address).get()
            opened.append(channel)
            // All shards bind the port that the first socket was assigned.
            address = channel.localAddress ?? address
            let local = address.transportAddress(.udp)
            try await shard.eventLoop.submit { shard.connectionTable.datagrams.add(DatagramPort(local: local, channel: channel)) }.get()
        }
        return address.transportAddress(.udp)
    }

    private func bindStream(_ address: SocketAddress, transport: TransportProtocol, isStrict: Bool) async throws -> TransportAddress {
        let owners = Dictionary(uniqueKeysWithValues: shards.map { (ObjectIdentifier($0.eventLoop), $0) })
        let bootstrap = ServerBootstrap(group: group, childGroup: group)
            .serverChannelOption(ChannelOptions.autoRead, value: false)
            .serverChannelOption(ChannelOptions.backlog, value: 1_024)
            .serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let shard = owners[ObjectIdentifier(channel.eventLoop)] else { return }
                    try channel.pipeline.syncOperations.addHandler(AcceptPause(host: shard))
                }
            }
            .childChannelOption(ChannelOptions.socketOption(.so_keepalive), value: 1)
            .childChannelOption(ChannelOptions.tcpOption(.tcp_nodelay), value: 1)
            // A client that closes only its sending half still receives responses.
            .childChannelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let shard = owners[ObjectIdentifier(channel.eventLoop)],
                        let connection = shard.connectionTable.accepted(channel, transport: transport)
                    else { throw TooManyConnections() }
                    if let tls = shard.tls, transport == .tls {
                        try TLSHandshakeHandler.accept(channel, connection, host: shard, service: tls, isStrict: isStrict)
                    }
                    try channel.pipeline.syncOperations.addHandler(StreamHandler(connection: connection, host: shard))
                }
            }
        if address.protocol == .inet6 { _ = bootstrap.serverChannelOption(Self.isIPv6Only, value: 1) }
        let channel = try await bootstrap.bind(to: address).get()
        opened.append(channel)
        return (channel.localAddress ?? address).transportAddress(transport)
    }
}
