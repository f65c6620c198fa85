import XMLCore

/// Application usage as a value (RFC 4825 5): which documents there are, and what they may hold.
public struct ApplicationUsage: Sendable {
    /// Names of the documents in a tree. Documents are directly below a home directory or the global tree.
    public enum DocumentNames: Hashable, Sendable {
        /// No documents.
        case none
        /// Documents of any name.
        case any
        /// One document of this name.
        case only(String)
    }

    /// Application Unique ID (RFC 4825 5.1).
    public let auid: String
    /// Media type of the documents, in lower case (RFC 4825 5.4).
    public let mediaType: String
    /// Default document namespace (RFC 4825 5.3), followed by namespaces that are tried where it has no such element.
    package let defaultNamespaces: [String]
    /// Namespaces that the server understands for this usage, for `xcap-caps`.
    package let namespaces: [String]
    /// Documents below home directories.
    package let userDocuments: DocumentNames
    /// Documents in the global tree; they are read-only.
    package let globalDocuments: DocumentNames
    /// Whether the server computes all documents, so that a PUT or DELETE is 405.
    package let isReadOnly: Bool
    /// Schema and further constraints of a document (RFC 4825 5.4, 5.5).
    let validate: @Sendable (XMLElement, UsageContext) throws(XCAPConflict) -> Void

    /// Creates a usage with documents that users write; by default one document `index` and no constraints.
    public init(
        auid: String, mediaType: String, defaultNamespace: String, userDocuments: DocumentNames = .only("index"),
        constraints: @escaping @Sendable (XMLElement) throws(XCAPConflict) -> Void = { (_) throws(XCAPConflict) in }
    ) {
        self.init(
            auid: auid, mediaType: mediaType, defaultNamespaces: [defaultNamespace], namespaces: [defaultNamespace],
            userDocuments: userDocuments, globalDocuments: .none, isReadOnly: false
        ) { (root, _) throws(XCAPConflict) in try constraints(root) }
    }

    init(
        auid: String, mediaType: String, defaultNamespaces: [String], namespaces: [String], userDocuments: DocumentNames,
        globalDocuments: DocumentNames, isReadOnly: Bool,
        validate: @escaping @Sendable (XMLElement, UsageContext) throws(XCAPConflict) -> Void
    ) {
        self.auid = auid
        self.mediaType = mediaType
        self.defaultNamespaces = defaultNamespaces
        self.namespaces = namespaces
        self.userDocuments = userDocuments
        self.globalDocuments = globalDocuments
        self.isReadOnly = isReadOnly
        self.validate = validate
    }

    /// Whether a tree may hold a document of that path.
    func allows(_ document: DocumentSelector) -> Bool {
        guard document.path.count == 1, let name = document.path.first else { return false }
        switch document.user == nil ? globalDocuments : userDocuments {
        case .none: return false
        case .any: return true
        case .only(let only): return name == only
        }
    }

    /// Usages that the server has.
    public static let all: [ApplicationUsage] = [
        .capabilities, .resourceLists, .rlsServices, .presenceRules, .omaPresenceRules, .directory,
    ]

    /// Usage of an AUID; nil when it is not supported.
    public static func named(_ auid: String) -> ApplicationUsage? { all.first { $0.auid == auid } }
}

/// Facts about the server and its other documents that constraints depend on; the caller gives them.
public struct UsageFacts: Sendable {
    /// Whether another document has a list service of that URI, or the URI is the address-of-record of a user (RFC 4826 4.4.5). The
    /// argument is the canonical form, as by `SIPURI.aorKey`.
    package var isServiceURITaken: @Sendable (_ uri: String) -> Bool
    /// Whether list services may have URIs of that domain, in lower case.
    package var isHosted: @Sendable (_ domain: String) -> Bool
    /// Whether lists may refer to lists of other users.
    package var allowsForeignLists: Bool

    /// Creates facts; by default no service URI is taken, every domain is hosted, and lists of other users are not referred to.
    public init(
        isServiceURITaken: @escaping @Sendable (String) -> Bool = { _ in false },
        isHosted: @escaping @Sendable (String) -> Bool = { _ in true }, allowsForeignLists: Bool = false
    ) {
        self.isServiceURITaken = isServiceURITaken
        self.isHosted = isHosted
        self.allowsForeignLists = allowsForeignLists
    }
}

/// Surroundings of a document that is being validated.
struct UsageContext {
    var root: XCAPRoot
    var document: DocumentSelector
    var facts: UsageFacts
    var limits: XCAPLimits
}
