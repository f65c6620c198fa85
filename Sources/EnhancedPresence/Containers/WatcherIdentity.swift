/// The network of a watcher: the subscriber class of MS-PRES 3.4.5.1.3.
public struct SourceNetwork: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The class as it is written in documents.
    public let rawValue: String

    /// Creates a class; unknown ones match no class member.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Creates a class from a literal.
    public init(stringLiteral value: StaticString) { rawValue = value.description }

    /// The watcher belongs to the same enterprise as the presentity.
    public static let sameEnterprise: SourceNetwork = "sameEnterprise"
    /// The watcher belongs to a federated domain.
    public static let federated: SourceNetwork = "federated"
    /// The watcher belongs to a public cloud service.
    public static let publicCloud: SourceNetwork = "publicCloud"

    /// The same as ``rawValue``.
    public var description: String { rawValue }
}

/// The attributes of a watcher that container resolution uses (MS-PRES 3.2.5.3).
public struct WatcherIdentity: Hashable, Sendable {
    /// The normalised address.
    public let address: PresenceAddress
    /// The network.
    public let network: SourceNetwork

    /// Creates an identity; the URI is normalised by ``PresenceAddress``.
    public init(uri: String, network: SourceNetwork) {
        address = PresenceAddress(uri)
        self.network = network
    }
}
