/// Position in a document: line and column from 1, offset from 0.
public struct XMLPosition: Hashable, Sendable, CustomStringConvertible {
    /// Line, from 1.
    public var line: Int
    /// Column in characters, from 1.
    public var column: Int
    /// Offset in bytes, from 0.
    public var offset: Int

    /// Creates a position; the values are not checked against each other.
    public init(line: Int, column: Int, offset: Int) {
        self.line = line
        self.column = column
        self.offset = offset
    }

    public var description: String { "\(line):\(column)" }
}

/// Rejection of a document by the parser: the document breaks a rule or a limit, or memory is exhausted.
public struct XMLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Kind of rejection, compared by its name.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// Lower-case words joined by hyphens, such as `not-well-formed`.
        public let name: String
        /// Creates a kind with that name; the kinds used here are the constants below.
        public init(_ name: String) { self.name = name }
        public var description: String { name }

        /// A rule of XML 1.0 or Namespaces in XML 1.0 is broken.
        public static let notWellFormed = Code("not-well-formed")
        /// The document ends too early.
        public static let truncated = Code("truncated")
        /// Neither UTF-8, US-ASCII nor UTF-16 with a byte order mark, or invalid bytes.
        public static let encoding = Code("encoding")
        /// A DOCTYPE, or a reference to an entity that only a DTD could define.
        public static let documentType = Code("document-type")
        /// A limit of ``XMLLimits`` or of the parser is exceeded, or memory is exhausted.
        public static let limit = Code("limit")
    }

    /// Kind of rejection.
    public var code: Code
    /// English sentence, with the section of the standard that is broken or the limit.
    public var message: String
    /// Position of the first error.
    public var position: XMLPosition

    /// Creates a rejection at a position of the document.
    public init(code: Code, message: String, position: XMLPosition) {
        self.code = code
        self.message = message
        self.position = position
    }

    /// Position and message, for logs.
    public var description: String { "\(position): \(message)" }
}
