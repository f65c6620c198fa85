import Administration
import NameResolution
import PresenceGateway
import SIPCore
import SIPSecurity
import SIPTransport
import Storage

/// A whole configuration file as values: what the gateway, the transport and the administration listener are told.
struct ProgramConfiguration: Hashable, Sendable {
    /// Where `serve` answers HTTP.
    struct AdminListener: Hashable, Sendable {
        var address: AdministrationAddress
        /// Who watches whom is shown there.
        var inspects: Bool

        var isSocket: Bool {
            if case .socket = address { true } else { false }
        }
    }

    /// The file in which state outlives the process.
    struct Store: Hashable, Sendable {
        var path: String
        var options = SQLiteStore.Options()
        /// A restart for an upgrade is not seen by anybody.
        var onStop = StopPolicy.keep
    }

    var nodeName = "localhost"
    var advertisedHost: String?
    /// nil: made from the name.
    var publisherEPID: String?
    /// Event loops, each with a gateway of its own.
    var shards = 1
    var listeners: [TransportAddress] = []
    /// What each listener is called by others, in the order of `listeners`.
    var advertised: [AdvertisedPlace?] = []
    /// What each listener asks of users of hosted domains, in the order of `listeners`.
    var listenerAuthentication: [ListenerAuthentication] = []
    var authenticationLimits = AuthenticationLimits()
    var domains: [String: DomainConfiguration] = [:]
    /// What signs this gateway in at domains that ask for it.
    var credentials: [String: CredentialsFile] = [:]
    /// nil: everybody of a hosted domain is a user.
    var directory: DirectorySource?
    /// nil: no listener and no route is over TLS.
    var tls: TLSFiles?
    /// nil: TLS-DSK is not offered.
    var tlsDSK: TLSDSKFiles?
    /// Where watchers send lists of their own making (RFC 5367); nil: nowhere.
    var listServer: SIPURI?
    var limits = GatewayLimits()
    var timing = standardTiming
    var transport = TransportOptions()
    /// Whom the node asks for names.
    var names = NameResolverOptions()
    var naming = NamingConfiguration()
    var admin: [AdminListener] = []
    /// nil: in memory.
    var store: Store?
    /// A directory whose tables replace those that are compiled in.
    var mappingsDirectory: String?

    /// What a file that says nothing gets: the recommended pause between notifications (RFC 3856 6.10).
    private static var standardTiming: GatewayTiming {
        var timing = GatewayTiming()
        timing.notifySpacing = .seconds(5)
        return timing
    }

    /// Whether any listener asks users to sign in.
    var asksUsersToSignIn: Bool { listenerAuthentication.contains { $0.schemes != .none } }

    /// Takes over from the running program what cannot change under it: its sockets, loops and files, its own names, and the bounds of the
    /// one authenticator.
    /// - Returns: The keys that were given another value, which waits for a restart.
    mutating func keepFixed(of started: ProgramConfiguration) -> [String] {
        var keys: [String] = []
        keep("node.name", \.nodeName, of: started, &keys)
        keep("node.advertised", \.advertisedHost, of: started, &keys)
        keep("node.shards", \.shards, of: started, &keys)
        keep("node.epid", \.publisherEPID, of: started, &keys)
        keep("listen", \.listeners, of: started, &keys)
        keep("listen.advertised", \.advertised, of: started, &keys)
        if (tls == nil) != (started.tls == nil) { keep("tls", \.tls, of: started, &keys) }
        keep("listen.authentication", \.listenerAuthentication, of: started, &keys)
        keep("limits of sign-in", \.authenticationLimits, of: started, &keys)
        keep("dns", \.names, of: started, &keys)
        keep("transport", \.transport, of: started, &keys)
        keep("admin", \.admin, of: started, &keys)
        keep("store", \.store, of: started, &keys)
        return keys
    }

    private mutating func keep<Value: Equatable>(
        _ name: String, _ path: WritableKeyPath<ProgramConfiguration, Value>, of started: ProgramConfiguration, _ keys: inout [String]
    ) {
        guard self[keyPath: path] != started[keyPath: path] else { return }
        self[keyPath: path] = started[keyPath: path]
        keys.append(name)
    }

    /// What one shard is told, once the listeners have their real ports.
    func gateway(listeners bound: [TransportAddress], logLevel: GatewayLog.Level) -> GatewayConfiguration {
        var gateway = GatewayConfiguration(
            nodeName: nodeName, listeners: bound, advertisedHost: advertisedHost, domains: domains, limits: limits, timing: timing)
        gateway.logLevel = logLevel
        gateway.naming = naming
        gateway.listServer = listServer
        gateway.onStop = store?.onStop ?? .terminate
        gateway.publisherEPID = publisherEPID
        for (address, place) in zip(bound, advertised) {
            guard let place else { continue }
            gateway.advertised[address] = .init(place.host, place.port ?? address.port)
        }
        for (address, authentication) in zip(bound, listenerAuthentication) { gateway.authentication[address] = authentication }
        return gateway
    }
}
