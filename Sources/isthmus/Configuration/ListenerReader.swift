import PresenceGateway
import SIPCore
import SIPSecurity
import SIPTransport
import Yams

/// One entry of `listen`: an address, or an address with what is asked of users of hosted domains there.
struct ListenerReader {
    /// What is said to be wrong where it is wrong.
    let node: ConfigurationNode
    let address: TransportAddress
    private var schemes: ListenerAuthentication.Schemes?
    private var digestAlgorithms: [DigestAlgorithm]?
    private var digestStatus: SIPStatus?
    /// Of a listener with TLS.
    private(set) var takesClientsWithoutCertificate = false
    /// What others reach it at; without a port by its own.
    private(set) var advertised: AdvertisedPlace?

    private enum ClientCertificate: String, CaseIterable { case required, optional }
    private enum DigestStatus: String, CaseIterable { case unauthorized = "401", proxy = "407" }

    /// nil when the address cannot be read; the mistake has been noted.
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
        // What cannot be read is one mistake, not two.
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

    private static func readAdvertised(_ node: ConfigurationNode) -> AdvertisedPlace? {
        guard let text = node.string() else { return nil }
        do throws(AddressTextError) {
            let (host, port) = try TransportAddress.parseHostPort(text[...], defaultPort: 0)
            if ["0.0.0.0", "::"].contains(host) { throw AddressTextError(rule: "is nobody's address: others cannot send to it") }
            return AdvertisedPlace(host: host, port: port == 0 ? nil : port)
        } catch {
            node.refuse(error.rule)
            return nil
        }
    }

    /// What the listener asks: as it is marked; unmarked everything where domains are hosted, and nothing where none is.
    ///
    /// - Parameters:
    ///   - hosted: the name of a hosted domain, for the report.
    ///   - hasDirectory: whether the file names a directory of users; without one nobody could sign in.
    ///   - hasTLSDSK: whether the file says what TLS-DSK is offered with.
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

/// Where others reach a listener behind a NAT or a load balancer.
struct AdvertisedPlace: Hashable {
    /// Without brackets.
    var host: String
    /// nil: the listener's own.
    var port: Int?
}

extension ConfigurationNode {
    /// An address of the form `udp:HOST:PORT`; nil and a mistake when it is something else.
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
