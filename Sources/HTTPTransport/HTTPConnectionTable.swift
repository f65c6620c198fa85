import Logging
import NIOCore
import NIOHTTP1
import NIOSSL

/// Connections of one server. Confined to `loop`.
final class HTTPConnectionTable: @unchecked Sendable {
    let loop: any EventLoop
    let options: HTTPOptions
    let service: HTTPServer.Service
    var statistics = HTTPStatistics()
    /// Octets of contents that are being received.
    var unfinishedOctets = 0
    private(set) var isStopping = false
    private let logger: Logger
    private var byAddress: [[UInt8]: Int] = [:]
    private var open: [ObjectIdentifier: HTTPConnection] = [:]
    private var stopped: EventLoopPromise<Void>?

    init(_ loop: any EventLoop, _ options: HTTPOptions, _ logger: Logger, _ service: @escaping HTTPServer.Service) {
        self.loop = loop
        self.options = options
        self.logger = logger
        self.service = service
    }

    private struct Refused: Error {}

    /// Builds the pipeline of an accepted connection, or closes it because of a limit.
    func accept(_ channel: any Channel, context: (@Sendable () -> NIOSSLContext)?) -> EventLoopFuture<Void> {
        loop.flatSubmit {
            let key = Self.key(channel.remoteAddress)
            let mine = self.byAddress[key, default: 0]
            guard !self.isStopping, self.open.count < self.options.connections, mine < self.options.connectionsPerAddress else {
                self.statistics.refused += 1
                if self.statistics.refused.isMultiple(of: 1_000) || self.statistics.refused == 1 {
                    self.logger.notice("HTTP connection refused", metadata: ["refused": "\(self.statistics.refused)"])
                }
                return self.loop.makeFailedFuture(Refused())
            }
            let connection = HTTPConnection(self, channel)
            do {
                let pipeline = channel.pipeline.syncOperations
                if let context { try pipeline.addHandler(NIOSSLServerHandler(context: context())) }
                try pipeline.addHandler(HTTPHeadMeter(connection))
                try pipeline.addHandler(HTTPResponseEncoder())
                // Header fields are counted in octets by HTTPHeadMeter, with 431; this limit is for trailers.
                var limits = NIOHTTPDecoderLimitConfiguration()
                limits.maxHeaderListSize = 2 * self.options.headerBytes
                try pipeline.addHandler(
                    ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: limits)))
                try pipeline.addHandler(HTTPHeadWatch(connection))
                try pipeline.addHandler(HTTPServerPipelineHandler())
                try pipeline.addHandler(HTTPServerProtocolErrorHandler())
                try pipeline.addHandler(connection)
            } catch {
                return self.loop.makeFailedFuture(error)
            }
            self.statistics.accepted += 1
            self.byAddress[key] = mine + 1
            self.open[ObjectIdentifier(channel)] = connection
            self.statistics.connections = self.open.count
            let place = ObjectIdentifier(channel)
            channel.closeFuture.hop(to: self.loop).whenComplete { _ in self.closed(place, key) }
            return self.loop.makeSucceededVoidFuture()
        }
    }

    private func closed(_ place: ObjectIdentifier, _ key: [UInt8]) {
        guard open.removeValue(forKey: place) != nil else { return }
        statistics.connections = open.count
        let left = byAddress[key, default: 1] - 1
        byAddress[key] = left > 0 ? left : nil
        if open.isEmpty { stopped?.succeed() }
    }

    /// Octets of an IPv4 address, the first half of an IPv6 one.
    private static func key(_ address: SocketAddress?) -> [UInt8] {
        guard let address else { return [] }
        return address.withSockAddr { start, count in
            let octets = UnsafeRawBufferPointer(start: start, count: count)
            switch address {
            case .v4: return Array(octets[4..<8])
            case .v6:
                let host = octets[8..<24]
                // An IPv4 host on a dual-stack socket (RFC 4291 2.5.5.2).
                let isIPv4 = host.prefix(10).allSatisfy { $0 == 0 } && host.dropFirst(10).prefix(2).allSatisfy { $0 == 0xFF }
                return Array(isIPv4 ? host.suffix(4) : host.prefix(8))
            case .unixDomainSocket: return []
            }
        }
    }

    /// Closes idle connections, and the others after their response or the given time.
    func stop(within patience: TimeAmount) -> EventLoopFuture<Void> {
        isStopping = true
        let promise = loop.makePromise(of: Void.self)
        guard !open.isEmpty else {
            promise.succeed()
            return promise.futureResult
        }
        stopped = promise
        for connection in open.values { connection.stop() }
        let end = loop.scheduleTask(in: patience) { for connection in self.open.values { connection.close() } }
        promise.futureResult.whenComplete { _ in end.cancel() }
        return promise.futureResult
    }
}
