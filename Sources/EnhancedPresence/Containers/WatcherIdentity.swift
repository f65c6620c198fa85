/// Where a watcher's requests come from: the subscriber class of MS-PRES 3.4.5.1.3.
public struct SourceNetwork: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: StaticString) { rawValue = value.description }

    public static let sameEnterprise: SourceNetwork = "sameEnterprise"
    public static let federated: SourceNetwork = "federated"
    public static let publicCloud: SourceNetwork = "publicCloud"

    public var description: String { rawValue }
}

/// A watcher as the resolution of containers sees it (MS-PRES 3.2.5.3).
public struct WatcherIdentity: Hashable, Sendable {
    public let address: PresenceAddress
    public let network: SourceNetwork

    public init(uri: String, network: SourceNetwork) {
        address = PresenceAddress(uri)
        self.network = network
    }
}
