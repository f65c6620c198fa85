import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// HTTP/1.1 server with bounds on everything that a client can make it keep: connections, header fields, contents and time.
///
/// All listeners share one thread, so that its tables need no lock. Requests of one connection are answered in order; while one is
/// being answered, nothing more is read from its connection.
package final class HTTPServer: Sendable {
    /// Answers a request by calling the function once, on any thread.
    package typealias Service = @Sendable (HTTPRequest, _ answer: @escaping @Sendable (HTTPAnswer) -> Void) -> Void

    /// Listeners with their actual ports.
    package let addresses: [HTTPAddress]
    private let channels: [any Channel]
    private let group: MultiThreadedEventLoopGroup
    private let connections: HTTPConnectionTable

    /// Opens all listeners, or none.
    /// - Parameter context: TLS context for a new connection; needed for listeners over TLS.
    /// - Throws: `HTTPListenError` naming the listener that cannot be opened.
    package static func start(
        on addresses: [HTTPAddress], options: HTTPOptions = HTTPOptions(), context: (@Sendable () -> NIOSSLContext)? = nil, logger: Logger,
        service: @escaping Service
    ) async throws -> HTTPServer {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let connections = HTTPConnectionTable(group.next(), options, logger, service)
        var channels: [any Channel] = []
        var bound: [HTTPAddress] = []
        for address in addresses {
            let secure = address.isSecure ? context : nil
            do {
                guard !address.isSecure || secure != nil else { throw HTTPListenError(address: address, reason: "there is no certificate") }
                let channel = try await ServerBootstrap(group: group)
                    .serverChannelOption(ChannelOptions.backlog, value: 256)
                    .serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
                    .childChannelInitializer { connections.accept($0, context: secure) }
                    .bind(host: address.host, port: address.port).get()
                channels.append(channel)
                bound.append(
                    HTTPAddress(
                        isSecure: address.isSecure, host: address.host, port: channel.localAddress?.port ?? address.port))
            } catch {
                for channel in channels { try? await channel.close() }
                try? await group.shutdownGracefully()
                throw error as? HTTPListenError ?? HTTPListenError(address: address, reason: "\(error)")
            }
        }
        return HTTPServer(bound, channels, group, connections)
    }

    private init(
        _ addresses: [HTTPAddress], _ channels: [any Channel], _ group: MultiThreadedEventLoopGroup, _ connections: HTTPConnectionTable
    ) {
        self.addresses = addresses
        self.channels = channels
        self.group = group
        self.connections = connections
    }

    /// Numbers since the start.
    package func statistics() async -> HTTPStatistics {
        (try? await connections.loop.submit { self.connections.statistics }.get()) ?? HTTPStatistics()
    }

    /// Closes the listeners and all connections without an open request; waits at most `patience` milliseconds for the others.
    /// ``statistics()`` can be called until ``shutdown()``.
    package func stop(patience: Int64 = 2_000) async {
        for channel in channels { try? await channel.close() }
        try? await connections.loop.flatSubmit { self.connections.stop(within: .milliseconds(patience)) }.get()
    }

    /// Ends the thread of a stopped server; the last call.
    package func shutdown() async { try? await group.shutdownGracefully() }
}

/// A listener that cannot be opened.
package struct HTTPListenError: Error, CustomStringConvertible {
    /// The listener.
    package var address: HTTPAddress
    /// Cause, as the system states it.
    package var reason: String

    /// `ADDRESS: cannot listen: REASON`.
    package var description: String { "\(address): cannot listen: \(reason)" }
}
