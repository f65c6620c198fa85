import Administration
import HTTPTransport
import Logging
import NIOCore
import NameResolution
import PresenceGateway
import PresenceMapping
import SIPCore
import SIPSecurity
import SIPTransport
import Storage
import Synchronization

/// Gateway process of `serve` and `demo`: shards on event loops, their logs, the administration listeners, reload and stop.
package final class RunningGateway: Sendable {
    package let server: SIPServer
    private let logger: Logger
    private let started: ProgramConfiguration
    private let administration: [AdministrationServer]
    let pages: StatusPages
    private let authenticator: Authenticator?
    let tls: TLSService?
    private let names: NameResolver
    private let store: StoreWorker?
    let feed: DirectoryFeed
    private let documented: DocumentedUsers
    private let documentServer: DocumentServer?
    private let tables: CurrentTables

    /// Starts a gateway.
    /// - Parameter storePatience: longest wait of a commit for another process that has locked the store.
    /// - Throws: `ServiceFailure` when a listener cannot be opened, a file cannot be read, or users could not sign in.
    package static func start(
        _ written: ProgramConfiguration, logger: Logger, storePatience: TimeSpan = .seconds(5)
    ) async throws -> RunningGateway {
        let configuration = try written.withPasswords()
        let mapper = PresenceMapper(tables: try MappingsDirectory.tables(configuration.mappingsDirectory))
        let tables = CurrentTables(mapper)
        let users = try configuration.loadDirectory()
        let documents = try configuration.loadDocuments(of: users)
        let directory = CurrentDirectory(users)
        let authenticator = try authenticator(configuration, directory)
        let tls = try tlsService(configuration, logger)
        var router = ShardRouter(
            shards: configuration.node.shards, for: configuration.gateway(listeners: [], logLevel: .init(logger.logLevel)))
        let opened = try OpenedStore(configuration.store, for: &router)
        let serviceURIs = ServiceURIs()
        if configuration.documents != nil { router.services = serviceURIs }
        let names: NameResolver
        do { names = try NameResolver(options: configuration.names) } catch { throw ServiceFailure("dns: \(error)") }
        let store = try opened?.work(patience: storePatience)
        let server: SIPServer
        do {
            server = try await SIPServer.start(
                listening: configuration.listeners, shardCount: configuration.node.shards, options: configuration.transport, logger: logger,
                tls: tls,
                selector: { [router] in router.shard(of: &$0) },
                names: names,
                afterTick: { endpoint, shard in
                    guard let gateway = endpoint as? Gateway else { return }
                    store?.carryOut(requestsOf: gateway, on: shard)
                    drainLogs(of: gateway, shard: shard.index, to: logger)
                },
                makeEndpoint: { context in
                    let gateway = Gateway(
                        configuration: configuration.gateway(listeners: context.listeners, logLevel: .init(logger.logLevel)),
                        mapper: mapper,
                        shard: context.index,
                        shards: context.count, key: .system(), store: opened?.store, defersCommits: true,
                        authenticator: authenticator, directory: users, serviceURIs: serviceURIs, localAddresses: RouteLookup())
                    for (key, one) in documents { gateway.use(one, of: key, at: context.now) }
                    if opened != nil { gateway.beginRestart(at: context.now) }
                    return gateway
                })
        } catch let error as TransportError {
            names.stop()
            await store?.stop()
            throw ServiceFailure(error.description)
        }
        let restored: RestoredState
        do {
            restored = try await restore(server, from: opened)
        } catch {
            names.stop()
            await server.stop()
            await store?.stop()
            throw error
        }
        let documentServer: DocumentServer?
        do throws(ServiceFailure) {
            documentServer = try await DocumentServer.start(
                configuration, on: server, router: router, authenticator: authenticator, tls: tls, logger: logger)
        } catch {
            names.stop()
            await server.stop()
            await store?.stop()
            throw error
        }
        let partners = PartnerStatus(server: server, routes: configuration.routingTable, tls: tls)
        let pages = StatusPages(
            nodeName: configuration.node.name, server: server, directory: directory, partners: partners, tls: tls, store: store,
            documents: documentServer?.http)
        let administration: [AdministrationServer]
        do throws(ServiceFailure) {
            let inspection = InspectionPages(nodeName: configuration.node.name, server: server, partners: partners)
            administration = try await listeners(
                configuration.admin, pages, ConsolePages(inspection: inspection, status: pages, tables: tables), logger)
        } catch {
            names.stop()
            await documentServer?.http.stop()
            await documentServer?.http.shutdown()
            await server.stop()
            await store?.stop()
            throw error
        }
        var metadata: Logger.Metadata = [
            "node": "\(configuration.node.name)", "shards": "\(configuration.node.shards)", "file-descriptors": "\(FileDescriptors.limit)",
        ]
        if opened != nil { metadata.merge(Self.metadata(restored)) { _, new in new } }
        logger.info("serving", metadata: metadata)
        let node = RunningGateway(
            server: server, logger: logger, started: configuration, administration: administration, pages: pages,
            authenticator: authenticator, tls: tls, names: names, store: store, feed: DirectoryFeed(directory, logger: logger),
            documented: DocumentedUsers(documents), documentServer: documentServer, tables: tables)
        await node.followDirectory(configuration)
        return node
    }

    /// Completes the restart of all shards, and starts the keep-alive requests to partners.
    private static func restore(_ server: SIPServer, from opened: OpenedStore?) async throws -> RestoredState {
        try await withThrowingTaskGroup(of: RestoredState.self) { group in
            for shard in server.shards {
                group.addTask {
                    let state = try await opened?.restore(shard) ?? RestoredState()
                    try await shard.perform { endpoint, now in (endpoint as? Gateway)?.keepPartnersAlive(at: now) }.get()
                    return state
                }
            }
            return try await group.reduce(RestoredState()) { $0 + $1 }
        }
    }

    /// Opens all administration listeners, or none on failure.
    private static func listeners(
        _ wanted: [ProgramConfiguration.AdminListener], _ pages: StatusPages, _ console: ConsolePages, _ logger: Logger
    ) async throws(ServiceFailure) -> [AdministrationServer] {
        var started: [AdministrationServer] = []
        for listener in wanted {
            var sources = AdministrationServer.Sources(health: pages.health, isAlive: pages.isAlive, metrics: pages.metrics)
            if listener.inspects {
                sources.inspect = { request in
                    if let page = await console.answer(request) { return page }
                    return await console.inspection.answer(request)
                }
                sources.submissions = ConsolePages.submissions
            }
            do {
                started.append(try await AdministrationServer.start(on: listener.address, sources: sources, logger: logger))
            } catch {
                for server in started { await server.stop() }
                throw ServiceFailure("admin.\(listener.isSocket ? "socket" : "http"): \(listener.address): cannot listen: \(error)")
            }
        }
        return started
    }

    /// Authenticator shared by all shards; nil when no listener requires sign-in.
    private static func authenticator(_ configuration: ProgramConfiguration, _ directory: CurrentDirectory) throws -> Authenticator? {
        guard configuration.asksUsersToSignIn else { return nil }
        guard configuration.directory != nil else {
            throw ServiceFailure("listen: users must sign in, but there is no directory of them")
        }
        if let problem = CryptoLibrary.problem { throw ServiceFailure("listen: users cannot sign in: \(problem)") }
        var random = SystemRandomNumberGenerator()
        return Authenticator(
            targetName: configuration.node.name, secret: (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) },
            limits: configuration.signIn.limits, tlsDSK: try configuration.signIn.tlsDSK?.load(), isUser: { directory.hasUser($0) },
            lookup: { directory.account($0) })
    }

    /// TLS service with the configured certificates; nil without TLS.
    private static func tlsService(_ configuration: ProgramConfiguration, _ logger: Logger) throws(ServiceFailure) -> TLSService? {
        guard let files = configuration.tls else { return nil }
        let settings = try files.load(at: HostClock().now())
        do { return try TLSService(settings, logger: logger) } catch { throw ServiceFailure("tls: \(error)") }
    }

    private init(
        server: SIPServer, logger: Logger, started: ProgramConfiguration, administration: [AdministrationServer], pages: StatusPages,
        authenticator: Authenticator?, tls: TLSService?, names: NameResolver, store: StoreWorker?, feed: DirectoryFeed,
        documented: DocumentedUsers, documentServer: DocumentServer?, tables: CurrentTables
    ) {
        self.tables = tables
        self.documentServer = documentServer
        self.server = server
        self.logger = logger
        self.started = started
        self.administration = administration
        self.pages = pages
        self.authenticator = authenticator
        self.tls = tls
        self.names = names
        self.store = store
        self.feed = feed
        self.documented = documented
    }

    /// Addresses of all listeners with their actual ports, in the form of the `ready` line.
    package var addresses: [String] {
        server.listeners.map(\.description) + (documentServer?.http.addresses.map(\.description) ?? [])
            + administration.map(\.address.description)
    }

    /// Applies domains, limits, timing, the directory, mapping tables and certificates of a new configuration; keys that need a restart
    /// keep their values and are logged.
    /// - Throws: `ServiceFailure` when the directory, a table or a certificate cannot be read; nothing is changed then.
    package func reload(_ written: ProgramConfiguration) async throws(ServiceFailure) {
        var configuration = try written.withPasswords()
        let users = feed.state(of: configuration.directory, read: try configuration.loadDirectory())
        let documents = try configuration.loadDocuments(of: users)
        let tlsDSK = try configuration.signIn.tlsDSK?.load()
        let mapper = PresenceMapper(tables: try MappingsDirectory.tables(configuration.mappingsDirectory))
        let fixed = configuration.keepFixed(of: started)
        if !fixed.isEmpty {
            logger.warning("what needs a restart stays as it was", metadata: ["keys": "\(fixed.joined(separator: ", "))"])
        }
        if let tls, let files = configuration.tls {
            // The wall clock of now, which may have been set since the start.
            let settings = try files.load(at: HostClock().now())
            do { try tls.replace(settings) } catch { throw ServiceFailure("tls: \(error)") }
            await server.checkPeers()
        }
        let gateway = configuration.gateway(listeners: server.listeners, logLevel: .init(logger.logLevel))
        let changed = documented.replace(by: documents)
        for shard in server.shards {
            try? await shard.perform { endpoint, now in
                guard let shard = endpoint as? Gateway else { return }
                shard.reconfigure(gateway, mapper: mapper, documents: changed, at: now)
                shard.use(directory: users, at: now)
            }.get()
        }
        tables.replace(by: mapper)
        documentServer?.service.use(gateway)
        pages.partners.use(routes: gateway.routes)
        feed.current.replace(by: users)
        authenticator?.use(tlsDSK: tlsDSK)
        await followDirectory(configuration)
        logger.notice("configuration reloaded", metadata: ["domains": "\(configuration.domains.count)"])
    }

    private func followDirectory(_ configuration: ProgramConfiguration) async {
        let server = server
        await feed.follow(configuration) { state in
            for shard in server.shards {
                try? await shard.perform { endpoint, now in (endpoint as? Gateway)?.use(directory: state, at: now) }.get()
            }
        }
    }

    /// Ends all dialogs or leaves them in the store, as configured, waits at most `drain` for peers that answer, and closes all sockets.
    package func stop(drain: TimeSpan) async {
        logger.notice("stopping")
        pages.beginStopping()
        feed.stop()
        await documentServer?.http.stop()
        // Final requests use the servers already known.
        names.stop()
        await server.stop(
            drain: drain,
            asking: { endpoint, now in (endpoint as? Gateway)?.shutdown(at: now) },
            progress: { endpoint in
                guard let gateway = endpoint as? Gateway, !gateway.isDrained else { return .finished }
                return gateway.answersMissing.map { .awaitingPeers($0) } ?? .busy
            })
        // The last tick of a shard may have left commits to it.
        await store?.stop()
        for listener in administration { await listener.stop() }
        await documentServer?.http.shutdown()
        logger.notice("stopped")
    }

    private static func metadata(_ restored: RestoredState) -> Logger.Metadata {
        [
            "restored-presentities": "\(restored.presentities)", "restored-publications": "\(restored.publications)",
            "restored-dialogs": "\(restored.dialogs)", "restored-registrations": "\(restored.registrations)",
            "expired": "\(restored.expired)", "left-out": "\(restored.unreadable)", "told": "\(restored.notified)",
        ]
    }

    private static func drainLogs(of gateway: Gateway, shard: Int, to logger: Logger) {
        for record in gateway.takeLogs() {
            let level = record.level.loggerLevel
            guard level >= logger.logLevel else { continue }
            var metadata: Logger.Metadata = ["shard": "\(shard)"]
            for field in record.metadata { metadata[field.key] = "\(field.value)" }
            logger.log(level: level, "\(record.message)", metadata: metadata)
        }
    }
}

extension GatewayLog.Level {
    /// Lowest level of records that the core must produce.
    init(_ level: Logger.Level) {
        switch level {
        case .trace, .debug: self = .debug
        case .info: self = .info
        case .notice: self = .notice
        case .warning: self = .warning
        case .error, .critical: self = .error
        }
    }

    var loggerLevel: Logger.Level {
        switch self {
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }
}
