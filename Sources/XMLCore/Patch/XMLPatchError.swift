/// Why a patch could not be applied (RFC 5261 5): the fault of whoever wrote the patch, or a sign that the two copies differ.
public struct XMLPatchError: Error, Hashable, Sendable, CustomStringConvertible {
    /// An error element of RFC 5261 5.1, by its name; `limit` is ours.
    public struct Condition: Hashable, Sendable, CustomStringConvertible {
        public let name: String
        public init(_ name: String) { self.name = name }
        public var description: String { name }

        /// A value of `sel`, `type`, `pos` or `ws` is not allowed.
        public static let invalidAttributeValue = Condition("invalid-attribute-value")
        /// A prefix in a selector or a type is not declared in the patch, or is declared already where it is added.
        public static let invalidNamespacePrefix = Condition("invalid-namespace-prefix")
        /// The name of a namespace is empty.
        public static let invalidNamespaceURI = Condition("invalid-namespace-uri")
        /// What is put in is of another kind than what is replaced.
        public static let invalidNodeTypes = Condition("invalid-node-types")
        /// An operation other than add, replace and remove.
        public static let invalidPatchDirective = Condition("invalid-patch-directive")
        /// The root element cannot be removed and gets no sibling.
        public static let invalidRootElementOperation = Condition("invalid-root-element-operation")
        /// Text cannot stand beside the root element.
        public static let invalidXMLPrologOperation = Condition("invalid-xml-prolog-operation")
        /// There is no white space where `ws` says that it is.
        public static let invalidWhitespaceDirective = Condition("invalid-whitespace-directive")
        /// The selector selects nothing, or more than one node.
        public static let unlocatedNode = Condition("unlocated-node")
        /// Too many operations, a selector that is too long, or a result that is too large or too deep.
        public static let limit = Condition("limit")
    }

    public var condition: Condition
    public var message: String
    /// Where the operation stands in the patch.
    public var position: XMLPosition

    public init(_ condition: Condition, _ message: String, position: XMLPosition) {
        self.condition = condition
        self.message = message
        self.position = position
    }

    public var description: String { "\(position): \(condition): \(message)" }
}
