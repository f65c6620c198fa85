import FederationRouting
import PresenceMapping
import SIPCore
import SIPSecurity
import XMLCore

/// Settings and tools that all flows of a shard share; they change with the configuration, the mapping tables or the directory only.
final class ShardContext {
    private(set) var configuration: GatewayConfiguration
    private(set) var routes: RoutingTable
    var directory: HostedDirectory {
        didSet { settingsChanged() }
    }
    /// Number of changes of configuration, routes and directory, by which values that were derived of earlier settings are known to be outdated.
    private(set) var generation = 0
    private(set) var translator: PresenceTranslator
    /// Reused, because creating one costs more than parsing most documents.
    private(set) var parser: XMLParser
    /// Shared by all shards; nil: no user is authenticated.
    let authenticator: Authenticator?
    /// Which users belong to this shard.
    let place: ShardPlace
    /// URIs of list services, shared by all shards.
    let serviceURIs: ServiceURIs
    private(set) var isShuttingDown = false
    private var keptScreening: RequestScreening?

    init(
        _ configuration: GatewayConfiguration, _ mapper: PresenceMapper, _ directory: DirectoryState, _ authenticator: Authenticator?,
        _ place: ShardPlace = ShardPlace(), serviceURIs: ServiceURIs = ServiceURIs()
    ) {
        self.configuration = configuration
        self.place = place
        self.serviceURIs = serviceURIs
        routes = configuration.routes
        self.directory = HostedDirectory(directory)
        translator = PresenceTranslator(mapper: mapper)
        parser = Self.parser(configuration.limits)
        self.authenticator = authenticator
    }

    /// Applies a new configuration.
    func use(_ configuration: GatewayConfiguration) {
        self.configuration = configuration
        routes = configuration.routes
        settingsChanged()
        if parser.limits.bytes != configuration.limits.bodyBytes { parser = Self.parser(configuration.limits) }
    }

    private func settingsChanged() {
        keptScreening = nil
        generation += 1
    }

    /// Replaces the mapping tables.
    func use(_ mapper: PresenceMapper) { translator = PresenceTranslator(mapper: mapper).noting(translator.note) }

    /// Sets the receiver of the mapping rows that decide, and of the losses; nil: none.
    func noteMappings(_ note: ((_ rows: [String], _ losses: [MappingLoss]) -> Void)?) { translator = translator.noting(note) }

    /// Notes the beginning of an orderly stop.
    func stop() { isShuttingDown = true }

    /// Made on first use; dropped when the configuration, routes or directory change.
    var screening: RequestScreening {
        if let keptScreening { return keptScreening }
        let made = RequestScreening(configuration: configuration, routes: routes, directory: directory)
        keptScreening = made
        return made
    }

    private static func parser(_ limits: GatewayLimits) -> XMLParser {
        var bounds = XMLLimits.standard
        bounds.bytes = limits.bodyBytes
        return XMLParser(limits: bounds)
    }
}

/// A part of the shard that uses the kernel and the shared settings.
protocol ShardMember: KernelUser {
    var context: ShardContext { get }
}

/// Structures are yielded, because a copy retains each field.
extension ShardMember {
    var configuration: GatewayConfiguration { _read { yield context.configuration } }
    var routes: RoutingTable { _read { yield context.routes } }
    var directory: HostedDirectory { _read { yield context.directory } }
    var translator: PresenceTranslator { _read { yield context.translator } }
    var parser: XMLParser { context.parser }
    var screening: RequestScreening { context.screening }
    var place: ShardPlace { context.place }
    var isShuttingDown: Bool { context.isShuttingDown }
    var authenticator: Authenticator? { context.authenticator }
}
