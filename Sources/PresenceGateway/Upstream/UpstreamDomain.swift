import SIPCore

/// A domain that is not hosted here, as its far legs see it: one object for all legs to it, so that a leg holds no copy of the
/// configuration.
final class UpstreamDomain {
    /// The domain's key: its name in lower case.
    let name: String
    let configuration: DomainConfiguration
    let route: TransportAddress

    init(name: String, configuration: DomainConfiguration, route: TransportAddress) {
        self.name = name
        self.configuration = configuration
        self.route = route
    }

    var side: DomainSide { configuration.side }
}
