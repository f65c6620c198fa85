import Administration
import FederationRouting
import NameResolution
import PresenceGateway
import SIPCore
import SIPSecurity
import SIPTransport
import Storage

/// Content of a configuration file: settings of the gateway, the transport and the administration listener.
package struct ProgramConfiguration: Hashable, Sendable {
    /// Listener of the administration interface (HTTP).
    package struct AdminListener: Hashable, Sendable {
        package var address: AdministrationAddress
        /// Whether it shows subscriptions and presentities of users.
        package var inspects: Bool

        package var isSocket: Bool {
            if case .socket = address { true } else { false }
        }
    }

    /// File that keeps state across restarts.
    package struct Store: Hashable, Sendable {
        package var path: String
        var options = SQLiteStore.Options()
        /// By default dialogs are kept, so that watchers notice no restart.
        var onStop = StopPolicy.keep
    }

    /// Names and size of this node.
    package struct Node: Hashable, Sendable {
        package var name = "localhost"
        var advertisedHost: String?
        /// Endpoint identifier for publications; nil derives it from the node's name.
        var publisherEPID: String?
        /// Number of event loops, each with its own gateway.
        var shards = 1
    }

    /// Sign-in of users of hosted domains.
    package struct SignIn: Hashable, Sendable {
        var limits = AuthenticationLimits()
        /// Files for TLS-DSK; nil when it is not offered.
        package var tlsDSK: TLSDSKFiles?
    }

    /// Settings that every shard uses.
    package struct Core: Hashable, Sendable {
        var limits = GatewayLimits()
        var timing = standardTiming
        package var naming = NamingConfiguration()
        /// URI at which watchers may send their own lists (RFC 5367); nil for none.
        var listServer: SIPURI?

        /// Default timing: the recommended 5 s between notifications (RFC 3856 6.10).
        private static var standardTiming: GatewayTiming {
            var timing = GatewayTiming()
            timing.notifySpacing = .seconds(5)
            return timing
        }
    }

    package var node = Node()
    package var listeners: [TransportAddress] = []
    /// Public address of each listener, in the order of `listeners`; nil for its own.
    var advertised: [AdvertisedAddress?] = []
    /// Sign-in requirement of each listener for users of hosted domains, in the order of `listeners`.
    var listenerAuthentication: [ListenerAuthentication] = []
    package var signIn = SignIn()
    package var domains: [String: DomainConfiguration] = [:]
    /// Credentials with which this gateway signs in at domains, by domain.
    var credentials: [String: CredentialsFile] = [:]
    /// Directory of users; nil accepts every user of a hosted domain.
    var directory: DirectorySource?
    /// TLS files; nil when no listener and no route uses TLS.
    package var tls: TLSFiles?
    package var core = Core()
    var transport = TransportOptions()
    /// Name servers and their options.
    package var names = NameResolverOptions()
    package var admin: [AdminListener] = []
    /// XCAP server; nil: no documents are served.
    package var documents: Documents?
    /// Persistent store; nil keeps state in memory.
    package var store: Store?
    /// Directory of mapping tables that replace the compiled-in ones.
    var mappingsDirectory: String?

    /// Whether any listener requires sign-in.
    var asksUsersToSignIn: Bool { documents != nil || listenerAuthentication.contains { $0.schemes != .none } }

    /// Keeps the values of the running program that cannot change without a restart: sockets, loops, files, own names, and limits of the
    /// authenticator.
    /// - Returns: Keys with a new value that needs a restart.
    mutating func keepFixed(of started: ProgramConfiguration) -> [String] {
        var keys: [String] = []
        keep("node.name", \.node.name, of: started, &keys)
        keep("node.advertised", \.node.advertisedHost, of: started, &keys)
        keep("node.shards", \.node.shards, of: started, &keys)
        keep("node.epid", \.node.publisherEPID, of: started, &keys)
        keep("listen", \.listeners, of: started, &keys)
        keep("listen.advertised", \.advertised, of: started, &keys)
        if (tls == nil) != (started.tls == nil) { keep("tls", \.tls, of: started, &keys) }
        keep("listen.authentication", \.listenerAuthentication, of: started, &keys)
        keep("limits of sign-in", \.signIn.limits, of: started, &keys)
        keep("dns", \.names, of: started, &keys)
        keep("transport", \.transport, of: started, &keys)
        keep("admin", \.admin, of: started, &keys)
        keep("xcap", \.documents, of: started, &keys)
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

    /// Configuration of one shard; `bound` are the listeners with their actual ports.
    func gateway(listeners bound: [TransportAddress], logLevel: GatewayLog.Level) -> GatewayConfiguration {
        var gateway = GatewayConfiguration(
            nodeName: node.name, listeners: bound, advertisedHost: node.advertisedHost, domains: domains, limits: core.limits,
            timing: core.timing)
        gateway.logLevel = logLevel
        gateway.naming = core.naming
        gateway.listServer = core.listServer
        gateway.onStop = store?.onStop ?? .terminate
        gateway.publisherEPID = node.publisherEPID
        gateway.xcapRoot = xcapRoot
        for (address, place) in zip(bound, advertised) {
            guard let place else { continue }
            gateway.advertised[address] = .init(place.host, place.port ?? address.port)
        }
        for (address, authentication) in zip(bound, listenerAuthentication) { gateway.authentication[address] = authentication }
        return gateway
    }
}

extension ProgramConfiguration {
    /// Routing table as the gateway uses it.
    package var routingTable: RoutingTable { gateway(listeners: listeners, logLevel: .error).routes }

    /// Table of the URIs that identify the same user.
    var identities: IdentityTable { routingTable.identities }
}
