import XMLCore

// RFC 4662 5, Resource List Meta-Information, with the additions of MS-PRES 2.2.2.4
// namespace urn:ietf:params:xml:ns:rlmi, media type application/rlmi+xml, first part of multipart/related

/// State of a list subscription (RFC 4662 5.2).
public struct RLMIDocument: Hashable, Sendable {
    /// URI of the list.
    public var uri: String
    /// Version; incremented with each notification of a subscription.
    public var version: UInt32
    /// Whether the document contains every resource of the list.
    public var fullState: Bool
    /// Content-ID of the part with the list's own state; nil when absent.
    public var cid: String?
    /// Names of the list, one per language.
    public var names: [PIDFNote] = []
    /// Resources in document order.
    public var resources: [RLMIResource] = []

    public init(uri: String, version: UInt32, fullState: Bool) {
        self.uri = uri
        self.version = version
        self.fullState = fullState
    }
}

/// Resource of the list (RFC 4662 5.4).
public struct RLMIResource: Hashable, Sendable {
    /// URI of the resource.
    public var uri: String
    /// Names of the resource, one per language.
    public var names: [PIDFNote] = []
    /// Virtual subscriptions in document order.
    public var instances: [RLMIInstance] = []

    public init(uri: String, instances: [RLMIInstance] = []) {
        self.uri = uri
        self.instances = instances
    }
}

/// Virtual subscription to a resource (RFC 4662 5.5).
public struct RLMIInstance: Hashable, Sendable {
    /// State of a virtual subscription; other tokens are kept.
    public struct State: PresenceToken {
        /// Name as spelled in documents.
        public let name: String
        /// Wraps a name; names that are not listed here are kept.
        public init(_ name: String) { self.name = name }

        /// Accepted (RFC 4662 5.5).
        public static let active = State("active")
        /// Not authorized yet (RFC 4662 5.5).
        public static let pending = State("pending")
        /// Ended, for the given reason (RFC 4662 5.5).
        public static let terminated = State("terminated")
        /// MS-PRES 2.2.2.4: subscribe again, at `poolFqdn` if present.
        public static let resubscribe = State("resubscribe")
        /// Values that the standard registers.
        public static let registered: [State] = [.active, .pending, .terminated, .resubscribe]
    }

    /// Id of the virtual subscription.
    public var id: String
    /// State of the virtual subscription.
    public var state: State
    /// Reason for the end; nil when absent.
    public var reason: String?
    /// Content-ID of the part with the state (RFC 4662), or the resource's URI (MS-PRES 2.2.2.4).
    public var cid: String?
    /// SIP status of a failed subscription, 0 to 999 (MS-PRES 2.2.2.4); nil when absent.
    public var statusCode: Int?
    /// GRUU or name of the pool to subscribe at (MS-PRES 2.2.2.4); nil when absent.
    public var poolFqdn: String?

    public init(id: String, state: State, reason: String? = nil, cid: String? = nil, statusCode: Int? = nil, poolFqdn: String? = nil) {
        self.id = id
        self.state = state
        self.reason = reason
        self.cid = cid
        self.statusCode = statusCode
        self.poolFqdn = poolFqdn
    }
}

/// Names of RFC 4662.
enum RLMIName {
    static let list = XMLName("list", in: .rlmi)
    static let resource = XMLName("resource", in: .rlmi)
    static let instance = XMLName("instance", in: .rlmi)
    static let name = XMLName("name", in: .rlmi)
}

extension RLMIDocument: PresenceDocument {
    /// Reads a `list` element; requires `uri`, `version` and `fullState`.
    public init(_ root: XMLElement) throws(DocumentError) {
        let rule = "RFC 4662 5.2"
        guard root.is(RLMIName.list) else { throw .wrongRoot(root, expected: RLMIName.list, rule: rule) }
        guard let version = try root.integer("version", in: 0...Int(UInt32.max), rule: rule) else {
            throw .missing("version", in: root, rule: rule)
        }
        let fullState = try root.required("fullState", rule: rule)
        guard ["true", "1", "false", "0"].contains(fullState) else {
            throw .invalid("attribute fullState", fullState, in: root, rule: rule)
        }
        self.init(
            uri: try root.required("uri", rule: rule), version: UInt32(truncatingIfNeeded: version),
            fullState: fullState == "true" || fullState == "1")
        cid = root.attribute("cid")
        for child in root.children {
            if child.is(RLMIName.name) { names.append(child.note) }
            if child.is(RLMIName.resource) { resources.append(try RLMIResource(child)) }
        }
    }

    /// Encodes the document; unknown elements and attributes that were read are not kept.
    public func encode() -> [UInt8] {
        var writer = XMLWriter(declaration: true)
        writer.start("list")
        writer.namespace("", .rlmi)
        writer.attribute("uri", uri)
        writer.attribute("version", String(version))
        writer.attribute("fullState", fullState ? "true" : "false")
        writer.attribute("cid", ifPresent: cid)
        for name in names { name.write("name", to: &writer) }
        for resource in resources {
            writer.start("resource")
            writer.attribute("uri", resource.uri)
            for name in resource.names { name.write("name", to: &writer) }
            for instance in resource.instances { instance.write(to: &writer) }
            writer.end()
        }
        return writer.finish()
    }
}

extension RLMIResource {
    init(_ element: XMLElement) throws(DocumentError) {
        self.init(uri: try element.required("uri", rule: "RFC 4662 5.4"))
        for child in element.children {
            if child.is(RLMIName.name) { names.append(child.note) }
            if child.is(RLMIName.instance) { instances.append(try RLMIInstance(child)) }
        }
    }
}

extension RLMIInstance {
    init(_ element: XMLElement) throws(DocumentError) {
        let rule = "RFC 4662 5.5"
        self.init(
            id: try element.required("id", rule: rule), state: State(try element.required("state", rule: rule)),
            reason: element.attribute("reason"), cid: element.attribute("cid"),
            statusCode: try element.integer("statusCode", in: 0...999, rule: "MS-PRES 2.2.2.4"), poolFqdn: element.attribute("poolFqdn"))
    }

    func write(to writer: inout XMLWriter) {
        writer.start("instance")
        writer.attribute("id", id)
        writer.attribute("state", state.name)
        writer.attribute("reason", ifPresent: reason)
        writer.attribute("statusCode", ifPresent: statusCode.map { String($0) })
        writer.attribute("cid", ifPresent: cid)
        writer.attribute("poolFqdn", ifPresent: poolFqdn)
        writer.end()
    }
}
