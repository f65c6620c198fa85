/// Failure of a patch (RFC 5261 5): the patch is wrong, or it was made for another version of the document.
public struct XMLPatchError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Error element of RFC 5261 5.1, by its name; `limit` is an addition.
    public struct Condition: Hashable, Sendable, CustomStringConvertible {
        /// Name of the error element, such as `unlocated-node`.
        public let name: String
        /// Creates a condition with that name; the conditions used here are the constants below.
        public init(_ name: String) { self.name = name }
        public var description: String { name }

        /// A value of `sel`, `type`, `pos` or `ws` is not allowed.
        public static let invalidAttributeValue = Condition("invalid-attribute-value")
        /// A prefix in a selector or a type is not declared in the patch, or is declared already where it is added.
        public static let invalidNamespacePrefix = Condition("invalid-namespace-prefix")
        /// The name of a namespace is empty.
        public static let invalidNamespaceURI = Condition("invalid-namespace-uri")
        /// The content is of another kind than the node that it replaces.
        public static let invalidNodeTypes = Condition("invalid-node-types")
        /// An operation other than add, replace and remove.
        public static let invalidPatchDirective = Condition("invalid-patch-directive")
        /// The root element cannot be removed and gets no sibling.
        public static let invalidRootElementOperation = Condition("invalid-root-element-operation")
        /// Text cannot stand beside the root element.
        public static let invalidXMLPrologOperation = Condition("invalid-xml-prolog-operation")
        /// The white space that `ws` names is missing.
        public static let invalidWhitespaceDirective = Condition("invalid-whitespace-directive")
        /// The selector selects nothing, or more than one node.
        public static let unlocatedNode = Condition("unlocated-node")
        /// Too many operations or visited nodes, a selector that is too long, or a result that is too large or too deep.
        public static let limit = Condition("limit")
    }

    /// Error element to report.
    public var condition: Condition
    /// English sentence with the section that is broken or the limit.
    public var message: String
    /// Start of the operation in the patch; line 1, column 1 when the result is too large.
    public var position: XMLPosition

    /// Creates a failure at a position of the patch.
    public init(_ condition: Condition, _ message: String, position: XMLPosition) {
        self.condition = condition
        self.message = message
        self.position = position
    }

    public var description: String { "\(position): \(condition): \(message)" }
}
