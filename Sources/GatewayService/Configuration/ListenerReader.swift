import PresenceGateway
import SIPCore
import SIPSecurity
import SIPTransport
import Yams

/// Entry of `listen`: an address, optionally with sign-in requirements for users of hosted domains.
struct ListenerReader {
    /// Node at which mistakes are recorded.
    let node: ConfigurationNode
    let address: TransportAddress
    private var schemes: ListenerAuthentication.Schemes?
    private var digestAlgorithms: [DigestAlgorithm]?
    private var digestStatus: SIPStatus?
    /// Whether a TLS listener accepts clients without a certificate.
    private(set) var takesClientsWithoutCertificate = false
    /// Public address of the listener; nil when it is the listener's own.
    private(set) var advertised: AdvertisedAddress?

    private enum ClientCertificate: String, CaseIterable { case required, optional }
    private enum DigestStatus: String, CaseIterable { case unauthorized = "401", proxy = "407" }

    /// Reads an entry; nil when its address cannot be read, after recording the mistake.
    init?(_ node: ConfigurationNode) {
        self.node = node
        guard node.node.mapping != nil else {
            guard let address = node.address() else { return nil }
            self.address = address
            return
        }
        guard
            let fields = node.fields([
                "address", "advertised", "authentication", "digest-algorithms", "digest-status", "client-certificate",
            ])
        else {
            return nil
        }
        guard let place = fields["address"] else {
            node.refuse("`address` is missing, as in { address: \"tcp:127.0.0.1:5060\", authentication: any }")
            return nil
        }
        guard let address = place.address() else { return nil }
        self.address = address
        advertised = fields["advertised"].flatMap(Self.readAdvertised)
        // Report an unreadable value as one mistake, not two.
        schemes = fields["authentication"].map { $0.choice(ListenerAuthentication.Schemes.self) ?? .none }
        if let list = fields["digest-algorithms"] {
            let elements = list.elements()
            if elements?.isEmpty == true { list.refuse("at least one algorithm is needed, as in [ SHA-256, MD5 ]") }
            digestAlgorithms = elements?.compactMap { $0.choice(DigestAlgorithm.self) }
        }
        switch fields["digest-status"]?.choice(DigestStatus.self) {
        case .unauthorized: digestStatus = .unauthorized
        case .proxy: digestStatus = .proxyAuthenticationRequired
        case nil: break
        }
        if let certificate = fields["client-certificate"] {
            if address.transport != .tls { certificate.refuse("is for listeners with TLS") }
            takesClientsWithoutCertificate = certificate.choice(ClientCertificate.self) == .optional
        }
    }

    private static func readAdvertised(_ node: ConfigurationNode) -> AdvertisedAddress? {
        guard let text = node.string() else { return nil }
        do throws(AddressTextError) {
            let (host, port) = try TransportAddress.parseHostPort(text[...], defaultPort: 0)
            if ["0.0.0.0", "::"].contains(host) { throw AddressTextError(rule: "is nobody's address: others cannot send to it") }
            return AdvertisedAddress(host: host, port: port == 0 ? nil : port)
        } catch {
            node.refuse(error.rule)
            return nil
        }
    }

    /// Sign-in requirement of the listener: as configured, else all schemes when a domain is hosted, and none otherwise.
    ///
    /// - Parameters:
    ///   - hosted: Name of a hosted domain, for the report; nil when none is hosted.
    ///   - hasDirectory: Whether the file names a directory of users; without one no user can sign in.
    ///   - hasTLSDSK: Whether the file configures TLS-DSK.
    func authentication(hosted: String?, hasDirectory: Bool, hasTLSDSK: Bool) -> ListenerAuthentication {
        if schemes == .tlsDSK, !hasTLSDSK {
            node.refuse("`authentication: tls-dsk` needs `tls-dsk: { certificate: ..., key: ..., client-ca: ... }` at the highest level")
        }
        if !hasDirectory {
            if let schemes, schemes != .none {
                node.refuse("`authentication: \(schemes.rawValue)` needs a `directory` of the users who may sign in")
            } else if schemes == nil, let hosted {
                node.refuse(
                    "users of the hosted domain \(hosted) must sign in: name a `directory`, or mark the listener as in "
                        + "{ address: \"\(address)\", authentication: none }")
            }
        }
        return ListenerAuthentication(
            schemes ?? (hosted == nil ? .none : .any), digestAlgorithms: digestAlgorithms, digestStatus: digestStatus)
    }
}

/// Public address of a listener behind a NAT or a load balancer.
struct AdvertisedAddress: Hashable {
    /// Host name or address without brackets.
    var host: String
    /// Port; nil for the listener's own.
    var port: Int?
}

extension ConfigurationNode {
    /// Address of the form `udp:HOST:PORT`; records a mistake and returns nil for any other text.
    func address() -> TransportAddress? {
        guard let text = string() else { return nil }
        do {
            return try TransportAddress.parse(text)
        } catch {
            refuse(error.rule)
            return nil
        }
    }
}
