import PresenceDocuments
import XMLCore

/// A container and a category of one presentity: what notifications are complete about (MS-PRES 3.2.5.1.2).
public struct ContainerCategory: Hashable, Comparable, Sendable {
    public var category: CategoryName
    public var container: ContainerID

    public init(category: CategoryName, container: ContainerID) {
        self.category = category
        self.container = container
    }

    public static func < (left: ContainerCategory, right: ContainerCategory) -> Bool {
        left.category == right.category ? left.container < right.container : left.category < right.category
    }
}

/// The key of a published instance, the publisher apart (MS-PRES 1.3.1.1).
public struct PublicationID: Hashable, Comparable, Sendable, CustomStringConvertible {
    public var category: CategoryName
    public var container: ContainerID
    public var instance: UInt32

    public init(category: CategoryName, container: ContainerID, instance: UInt32) {
        self.category = category
        self.container = container
        self.instance = instance
    }

    /// The pair that the instance belongs to.
    public var pair: ContainerCategory { ContainerCategory(category: category, container: container) }

    public var description: String { "\(category) \(instance) in container \(container)" }

    public static func < (left: PublicationID, right: PublicationID) -> Bool {
        left.pair == right.pair ? left.instance < right.instance : left.pair < right.pair
    }
}

/// One published value of a presentity as the server holds it (MS-PRES 1.3.1.1, 2.2.2.1).
public struct CategoryInstance: Hashable, Sendable {
    public var id: PublicationID
    /// Starts at 1 and grows with each change; the next publication must name it (MS-PRES 1.3.1.6).
    public var version: UInt32
    /// When the server committed this version (MS-PRES 2.2.2.1).
    public var publishTime: DateTime
    public var expireType: ExpireType
    /// Seconds of life granted at the last publication; expireType `time` only.
    public var expires: UInt32?
    /// When a time-bound instance ends.
    public var deadline: DateTime?
    /// The endpoint that published it; expireType `endpoint` only.
    public var endpointID: String?
    /// The data, verbatim; absent for an empty body.
    public var body: XMLFragment?
    /// Whether the server computed it from other instances, so that clients can neither overwrite nor delete it (MS-PRES 3.8).
    public internal(set) var isComputed: Bool

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

    /// The version after a change; 0 means that there was none before (MS-PRES 1.3.1.6).
    static func successor(of version: UInt32) -> UInt32 { version == .max ? 1 : version + 1 }

    /// Bytes that count against the quotas.
    public var bodyBytes: Int { body?.source.count ?? 0 }

    /// The form in which watchers see the instance (MS-PRES 2.2.2.1, 3.2.5.3).
    public var watcherElement: CategoryElement {
        CategoryElement(name: id.category, instance: id.instance, publishTime: publishTime, body: body.map(CategoryBody.raw))
    }

    /// The form in which the user's own endpoints see the instance (MS-PRES 2.2.2.1).
    /// - Parameter now: The time of writing; `expires` is the life left then, in whole seconds, at least 1.
    public func selfElement(at now: DateTime) -> CategoryElement {
        CategoryElement(
            name: id.category, instance: id.instance, publishTime: publishTime, container: id.container, version: version,
            expireType: expireType, endpointID: expireType == .endpoint ? endpointID : nil,
            expires: deadline.map { max(1, now.wholeSeconds(until: $0)) }, body: body.map(CategoryBody.raw))
    }
}
