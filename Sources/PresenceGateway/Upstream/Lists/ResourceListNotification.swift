import PresenceDocuments
import SIPCore
import XMLCore

/// One notification of a resource list (RFC 4662 5): its meta-information and the parts that the `cid` of instances refer to.
///
/// The body is `multipart/related` with the meta-information as its root; an instance that is itself a list has a `multipart/related`
/// part, to any depth. A `cid` refers to a part of the same multipart only (RFC 4662 5.5).
struct ResourceListNotification: Equatable {
    indirect enum Content: Equatable {
        /// The state of a resource: a document of the event package.
        case document(MIMEPart)
        case list(ResourceListNotification)
        /// A list that cannot be read, and the error.
        case unreadable(String)
    }

    struct Limits: Hashable, Sendable {
        /// Nesting depth; 1 allows the outermost list only.
        var depth = 8
        /// Resources of all lists together.
        var resources = 1_000

        init(depth: Int = 8, resources: Int = 1_000) {
            self.depth = depth
            self.resources = resources
        }
    }

    var meta: RLMIDocument
    /// Parts by Content-ID without angle brackets.
    private(set) var contents: [String: Content] = [:]

    init(_ meta: RLMIDocument) { self.meta = meta }

    /// State of an instance; nil if it has none yet, or its part is missing.
    func content(of instance: RLMIInstance) -> Content? {
        instance.cid.flatMap { contents[Self.identifier($0)] }
    }

    // MARK: reading

    /// Reads a notification body.
    /// - Throws: 400 if the body breaks a rule or a limit.
    init(_ body: [UInt8], contentType: MediaType, parser: XMLParser, limits: Limits = Limits()) throws(Refusal) {
        var reader = DocumentReader(.strict)
        try self.init(body, contentType: contentType, parser: parser, limits: limits, reader: &reader)
    }

    /// Reads a notification body.
    /// - Parameter reader: reads the meta-information.
    init(
        _ body: [UInt8], contentType: MediaType, parser: XMLParser, limits: Limits, reader: inout DocumentReader
    ) throws(Refusal) {
        var left = limits.resources
        try self.init(body, contentType: contentType, parser: parser, depth: limits.depth, left: &left, reader: &reader)
    }

    private init(
        _ body: [UInt8], contentType: MediaType, parser: XMLParser, depth: Int, left: inout Int, reader: inout DocumentReader
    ) throws(Refusal) {
        guard depth > 0 else { throw .badRequest("RFC 4662 5: lists are nested deeper than is allowed here") }
        let multipart: MIMEMultipart
        do { multipart = try MIMEMultipart(body, contentType: contentType) } catch {
            throw .badRequest("RFC 2046 5.1: the multipart body cannot be read", errorID: Refusal.unreadableDocumentID)
        }
        guard let root = multipart.root, root.contentType?.essence == WatcherFormat.rlmiType else {
            throw .badRequest(
                "RFC 4662 5.1: the root of the multipart body is not \(WatcherFormat.rlmiType)", errorID: Refusal.unreadableDocumentID)
        }
        do throws(DocumentError) { meta = try reader.read(root.body, using: parser) } catch {
            throw Refusal(.badRequest, "the meta-information of the list cannot be read: \(error)", errorID: Refusal.unreadableDocumentID)
        }
        left -= meta.resources.count
        guard left >= 0 else { throw .badRequest("RFC 4662 5: a list has more resources than are allowed here") }
        for part in multipart.parts {
            guard let identifier = part.contentID, part != root else { continue }
            if let type = part.contentType, type.essence == WatcherFormat.relatedType {
                do throws(Refusal) {
                    let inner = try ResourceListNotification(
                        part.body, contentType: type, parser: parser, depth: depth - 1, left: &left, reader: &reader)
                    contents[identifier] = .list(inner)
                } catch {
                    guard error.isUnreadableDocument else { throw error }
                    contents[identifier] = .unreadable(error.explanation)
                }
            } else {
                contents[identifier] = .document(part)
            }
        }
        nameListsOnce()
    }

    /// Removes later references to a list: only the first instance gets its resources.
    private mutating func nameListsOnce() {
        var named: Set<String> = []
        for resource in meta.resources.indices {
            for instance in meta.resources[resource].instances.indices {
                guard let cid = meta.resources[resource].instances[instance].cid.map(Self.identifier), case .list? = contents[cid],
                    !named.insert(cid).inserted
                else { continue }
                meta.resources[resource].instances[instance].cid = nil
            }
        }
    }

    /// A Content-ID for comparison; some implementations write angle brackets or `cid:` into the attribute.
    private static func identifier(_ text: String) -> String {
        var text = text[...]
        if text.hasPrefix("cid:") { text = text.dropFirst(4) }
        if text.hasPrefix("<"), text.hasSuffix(">") { text = text.dropFirst().dropLast() }
        return String(text)
    }

    // MARK: writing

    /// Adds a resource with one instance, and its state if there is one.
    /// - Parameter cid: without angle brackets; unique in the notification. Written only with `content`.
    mutating func add(_ resource: RLMIResource, cid: String, content: Content? = nil) {
        var resource = resource
        if let content {
            for index in resource.instances.indices where resource.instances[index].state == .active { resource.instances[index].cid = cid }
            contents[cid] = content
        }
        meta.resources.append(resource)
    }

    /// Encodes the body with the parts in the order of the resources.
    /// - Parameter boundary: a token; inner boundaries and the Content-ID of the root derive from it.
    func body(boundary: String) -> NotificationBody {
        let (type, bytes) = multipart(boundary: boundary).serialized()
        return NotificationBody(contentType: type.description, bytes: bytes)
    }

    private func multipart(boundary: String) -> MIMEMultipart {
        let start = "rlmi.\(boundary)"
        var parts = [MIMEPart(contentType: MediaType("application", "rlmi+xml"), contentID: start, body: meta.encode())]
        for cid in meta.resources.flatMap(\.instances).compactMap(\.cid) {
            switch contents[cid] {
            case .document(let part):
                var part = part
                part.headers.set(.contentID, "<\(cid)>")
                parts.append(part)
            case .list(let list):
                let (type, bytes) = list.multipart(boundary: "\(boundary)-\(parts.count)").serialized()
                parts.append(MIMEPart(contentType: type, contentID: cid, body: bytes))
            case .unreadable, nil: break
            }
        }
        return MIMEMultipart(
            subtype: "related", boundary: boundary, parts: parts,
            parameters: SIPParameters([
                .init("type", WatcherFormat.rlmiType, isQuoted: true), .init("start", "<\(start)>", isQuoted: true),
            ]))
    }
}
