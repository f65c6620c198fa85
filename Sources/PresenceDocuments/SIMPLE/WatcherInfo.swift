import XMLCore

// RFC 3858, watcher information
// namespace urn:ietf:params:xml:ns:watcherinfo, media type application/watcherinfo+xml

/// Watchers of resources (RFC 3858 4).
public struct WatcherInfoDocument: Hashable, Sendable {
    /// Version, from 0 in each subscription, incremented with each document (RFC 3858 4.1).
    public var version: UInt32
    /// Whether the document has all watchers; false: only those that changed.
    public var isFull: Bool
    /// Lists of watchers in document order.
    public var lists: [WatcherInfoList]

    /// Creates a document.
    public init(version: UInt32, isFull: Bool, lists: [WatcherInfoList] = []) {
        self.version = version
        self.isFull = isFull
        self.lists = lists
    }
}

/// Watchers of one resource (RFC 3858 4.2).
public struct WatcherInfoList: Hashable, Sendable {
    /// URI of the watched resource.
    public var resource: String
    /// Event package of the subscriptions.
    public var package: String
    /// Watchers in document order.
    public var watchers: [WatcherInfo]

    /// Creates a list.
    public init(resource: String, package: String, watchers: [WatcherInfo] = []) {
        self.resource = resource
        self.package = package
        self.watchers = watchers
    }
}

/// One subscription of a watcher (RFC 3858 4.3).
public struct WatcherInfo: Hashable, Sendable {
    /// State of a subscription (RFC 3857 4.7.1).
    public enum Status: String, Hashable, Sendable, CaseIterable {
        /// No decision has been made yet.
        case pending
        /// Accepted.
        case active
        /// Ended before a decision, which can still be made.
        case waiting
        /// Ended.
        case terminated
    }

    /// Event that led to the state (RFC 3857 4.7.1).
    public enum Event: String, Hashable, Sendable, CaseIterable {
        /// The watcher has subscribed.
        case subscribe
        /// A decision has accepted the watcher.
        case approved
        /// The subscription was ended, and may be made again at once.
        case deactivated
        /// The subscription was ended, and may be made again later.
        case probation
        /// A decision has refused the watcher.
        case rejected
        /// The subscription has expired, or the watcher has ended it.
        case timeout
        /// A pending or waiting subscription was given up.
        case giveup
        /// The resource does not exist any more.
        case noresource
    }

    /// Id of the subscription, unique in the document and the same in all documents of a subscription.
    public var id: String
    /// State of the subscription.
    public var status: Status
    /// Event that led to the state.
    public var event: Event
    /// URI of the watcher.
    public var uri: String
    /// Name of the watcher; nil when absent.
    public var displayName: String?
    /// Seconds until the subscription expires; nil when absent.
    public var expiration: Int?
    /// Seconds since the subscription began; nil when absent.
    public var durationSubscribed: Int?

    /// Creates a watcher; by default without optional attributes.
    public init(id: String, status: Status, event: Event, uri: String) {
        self.id = id
        self.status = status
        self.event = event
        self.uri = uri
    }
}

/// Names of RFC 3858.
private enum WatcherInfoName {
    static let root = XMLName("watcherinfo", in: .watcherInfo)
    static let list = XMLName("watcher-list", in: .watcherInfo)
    static let watcher = XMLName("watcher", in: .watcherInfo)
}

extension WatcherInfoDocument: PresenceDocument {
    /// Reads a `watcherinfo` element.
    public init(_ root: XMLElement) throws(DocumentError) {
        let rule = "RFC 3858 4.1"
        guard root.is(WatcherInfoName.root) else { throw .wrongRoot(root, expected: WatcherInfoName.root, rule: rule) }
        guard let version = try root.integer("version", in: 0...Int(UInt32.max), rule: rule) else {
            throw .missing("version", in: root, rule: rule)
        }
        let state = try root.required("state", rule: rule)
        guard state == "full" || state == "partial" else { throw .invalid("attribute state", state, in: root, rule: rule) }
        self.init(version: UInt32(truncatingIfNeeded: version), isFull: state == "full")
        for child in root.children where child.is(WatcherInfoName.list) { lists.append(try WatcherInfoList(child)) }
    }

    /// Encodes the document; unknown elements and attributes that were read are not kept.
    public func encode() -> [UInt8] {
        var writer = XMLWriter(declaration: true)
        writer.start("watcherinfo")
        writer.namespace("", .watcherInfo)
        writer.attribute("version", String(version))
        writer.attribute("state", isFull ? "full" : "partial")
        for list in lists {
            writer.start("watcher-list")
            writer.attribute("resource", list.resource)
            writer.attribute("package", list.package)
            for watcher in list.watchers { watcher.write(to: &writer) }
            writer.end()
        }
        return writer.finish()
    }
}

extension WatcherInfoList {
    fileprivate init(_ element: XMLElement) throws(DocumentError) {
        let rule = "RFC 3858 4.2"
        self.init(resource: try element.required("resource", rule: rule), package: try element.required("package", rule: rule))
        for child in element.children where child.is(WatcherInfoName.watcher) { watchers.append(try WatcherInfo(child)) }
    }
}

extension WatcherInfo {
    fileprivate init(_ element: XMLElement) throws(DocumentError) {
        let rule = "RFC 3858 4.3"
        let (status, event) = (try element.required("status", rule: rule), try element.required("event", rule: rule))
        guard let readStatus = Status(rawValue: status) else { throw .invalid("attribute status", status, in: element, rule: rule) }
        guard let readEvent = Event(rawValue: event) else { throw .invalid("attribute event", event, in: element, rule: rule) }
        self.init(
            id: try element.required("id", rule: rule), status: readStatus, event: readEvent, uri: element.trimmedText)
        displayName = element.attribute("display-name")
        expiration = try element.integer("expiration", in: 0...Int(UInt32.max), rule: rule)
        durationSubscribed = try element.integer("duration-subscribed", in: 0...Int(UInt32.max), rule: rule)
    }

    fileprivate func write(to writer: inout XMLWriter) {
        writer.start("watcher")
        writer.attribute("id", id)
        writer.attribute("status", status.rawValue)
        writer.attribute("event", event.rawValue)
        writer.attribute("display-name", ifPresent: displayName)
        writer.attribute("expiration", ifPresent: expiration.map { String($0) })
        writer.attribute("duration-subscribed", ifPresent: durationSubscribed.map { String($0) })
        writer.text(uri)
        writer.end()
    }
}
