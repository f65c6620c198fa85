import PresenceDocuments
import XMLCore

/// A container and a category of one presentity; notifications contain all instances of a pair (MS-PRES 3.2.5.1.2).
public struct ContainerCategory: Hashable, Comparable, Sendable {
    /// The category.
    public var category: CategoryName
    /// The container.
    public var container: ContainerID

    /// Creates a pair.
    public init(category: CategoryName, container: ContainerID) {
        self.category = category
        self.container = container
    }

    /// Orders by category, then by container.
    public static func < (left: ContainerCategory, right: ContainerCategory) -> Bool {
        left.category == right.category ? left.container < right.container : left.category < right.category
    }
}

/// The key of a published instance without its publisher (MS-PRES 1.3.1.1).
public struct PublicationID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The category.
    public var category: CategoryName
    /// The container.
    public var container: ContainerID
    /// The instance number.
    public var instance: UInt32

    /// Creates a key.
    public init(category: CategoryName, container: ContainerID, instance: UInt32) {
        self.category = category
        self.container = container
        self.instance = instance
    }

    /// The pair of category and container.
    public var pair: ContainerCategory { ContainerCategory(category: category, container: container) }

    /// The key for error messages, such as `note 0 in container 200`.
    public var description: String { "\(category) \(instance) in container \(container)" }

    /// Orders by category, container and instance number.
    public static func < (left: PublicationID, right: PublicationID) -> Bool {
        left.pair == right.pair ? left.instance < right.instance : left.pair < right.pair
    }
}

/// A published value as the server stores it (MS-PRES 1.3.1.1, 2.2.2.1).
public struct CategoryInstance: Hashable, Sendable {
    /// The key.
    public var id: PublicationID
    /// The version; starts at 1 and grows with each change. The next publication must repeat it (MS-PRES 1.3.1.6).
    public var version: UInt32
    /// Time at which the server committed this version (MS-PRES 2.2.2.1).
    public var publishTime: DateTime
    /// The kind of lifetime.
    public var expireType: ExpireType
    /// Granted lifetime in seconds; expireType `time` only.
    public var expires: UInt32?
    /// Time at which a time-bound instance ends; nil for other instances.
    public var deadline: DateTime?
    /// The publishing endpoint; expireType `endpoint` only.
    public var endpointID: String?
    /// The data, verbatim; nil for an empty body.
    public var body: XMLFragment?
    /// Whether the server computed the instance from others, so that clients can neither overwrite nor delete it (MS-PRES 3.8).
    public internal(set) var isComputed: Bool

    /// Creates an instance published by a client or by the server.
    public init(
        id: PublicationID, version: UInt32 = 1, publishTime: DateTime, expireType: ExpireType = .static, expires: UInt32? = nil,
        deadline: DateTime? = nil, endpointID: String? = nil, body: XMLFragment? = nil
    ) {
        self.init(
            id: id, version: version, publishTime: publishTime, expireType: expireType, expires: expires, deadline: deadline,
            endpointID: endpointID, body: body, isComputed: false)
    }

    init(
        id: PublicationID, version: UInt32, publishTime: DateTime, expireType: ExpireType, expires: UInt32? = nil,
        deadline: DateTime? = nil, endpointID: String? = nil, body: XMLFragment?, isComputed: Bool
    ) {
        self.id = id
        self.version = version
        self.publishTime = publishTime
        self.expireType = expireType
        self.expires = expires
        self.deadline = deadline
        self.endpointID = endpointID
        self.body = body
        self.isComputed = isComputed
    }

    /// The next version; 0 stands for no instance (MS-PRES 1.3.1.6).
    static func successor(of version: UInt32) -> UInt32 { version == .max ? 1 : version + 1 }

    /// Size of the body in bytes, which counts against the quotas.
    public var bodyBytes: Int { body?.source.count ?? 0 }

    /// The element for watchers (MS-PRES 2.2.2.1, 3.2.5.3).
    public var watcherElement: CategoryElement {
        CategoryElement(name: id.category, instance: id.instance, publishTime: publishTime, body: body.map(CategoryBody.raw))
    }

    /// The element for the user's own endpoints (MS-PRES 2.2.2.1).
    /// - Parameter now: The time of writing; `expires` is the remaining lifetime in whole seconds, at least 1.
    public func selfElement(at now: DateTime) -> CategoryElement {
        CategoryElement(
            name: id.category, instance: id.instance, publishTime: publishTime, container: id.container, version: version,
            expireType: expireType, endpointID: expireType == .endpoint ? endpointID : nil,
            expires: deadline.map { max(1, now.wholeSeconds(until: $0)) }, body: body.map(CategoryBody.raw))
    }
}
