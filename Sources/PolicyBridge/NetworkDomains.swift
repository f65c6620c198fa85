import EnhancedPresence
import PresenceDocuments
import SIPCore

/// Domains of the networks that container members name: `sameEnterprise`, `publicCloud` and `federated`.
public struct NetworkDomains: Hashable, Sendable {
    /// Domains of the presentity's enterprise.
    public let sameEnterprise: [String]
    /// Domains of public clouds.
    public let publicCloud: [String]
    /// Federated domains; nil: all domains of no other network.
    public let federated: [String]?
    private let networks: [String: ContainerMemberType]

    /// Creates the networks; a domain that is named twice belongs to the first network of the parameters.
    public init(sameEnterprise: [String] = [], publicCloud: [String] = [], federated: [String]? = nil) {
        var networks: [String: ContainerMemberType] = [:]
        func own(_ domains: [String], _ network: ContainerMemberType) -> [String] {
            Set(domains.map { SIPURI(host: $0).domainKey }).sorted().filter { domain in
                guard networks[domain] == nil else { return false }
                networks[domain] = network
                return true
            }
        }
        self.sameEnterprise = own(sameEnterprise, .sameEnterprise)
        self.publicCloud = own(publicCloud, .publicCloud)
        self.federated = federated.map { own($0, .federated) }
        self.networks = networks
    }

    /// The network of a domain as a source network of container resolution; an empty name if the domain has none.
    public func network(of domain: String) -> SourceNetwork { SourceNetwork(rawValue: type(of: domain)?.rawValue ?? "") }

    /// The network of a domain; nil if it has none.
    func type(of domain: String) -> ContainerMemberType? { networks[domain] ?? (federated == nil ? .federated : nil) }

    /// Domains of a network; nil: all domains that no other network names.
    func domains(of type: ContainerMemberType) -> [String]? {
        switch type {
        case .sameEnterprise: sameEnterprise
        case .publicCloud: publicCloud
        case .federated: federated
        default: []
        }
    }

    /// Domains that the open network excepts.
    var named: [String] { (sameEnterprise + publicCloud).sorted() }

    /// Networks in the order of MS-PRES 3.2.5.3.
    static let types: [ContainerMemberType] = [.sameEnterprise, .federated, .publicCloud]
}
