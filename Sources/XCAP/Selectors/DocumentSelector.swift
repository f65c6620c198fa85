/// Document selector: the path of a document below the XCAP root (RFC 4825 6.2).
public struct DocumentSelector: Hashable, Sendable, CustomStringConvertible {
    /// Tree of documents.
    public enum Tree: Hashable, Sendable {
        /// Documents for all users.
        case global
        /// Home directory of one user.
        case users(XUI)
    }

    /// Application Unique ID of the application usage.
    public var auid: String
    /// Tree of the document.
    public var tree: Tree
    /// Segments of the path below the tree, percent-decoded; at least one.
    public var path: [String]

    /// Creates a selector; the parts are not checked.
    public init(auid: String, tree: Tree, path: [String]) {
        self.auid = auid
        self.tree = tree
        self.path = path
    }

    /// Owner of the home directory; nil for global documents.
    public var user: XUI? {
        if case .users(let user) = tree { user } else { nil }
    }

    /// Path relative to the XCAP root in one spelling, percent-encoded.
    public var description: String {
        let home = user.map { ["users", $0.description] } ?? ["global"]
        return ([auid] + home + path).map(PercentCoding.encode).joined(separator: "/")
    }
}
