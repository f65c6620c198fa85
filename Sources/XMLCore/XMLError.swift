/// A place in a document: line and column count from 1 (columns are characters), the offset counts bytes from 0.
public struct XMLPosition: Hashable, Sendable, CustomStringConvertible {
    public var line: Int
    public var column: Int
    public var offset: Int

    public init(line: Int, column: Int, offset: Int) {
        self.line = line
        self.column = column
        self.offset = offset
    }

    public var description: String { "\(line):\(column)" }
}

/// Why a document was refused by the parser; always the fault of whoever wrote the document.
public struct XMLError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let name: String
        public init(_ name: String) { self.name = name }
        public var description: String { name }

        /// A rule of XML 1.0 or Namespaces in XML 1.0 is broken.
        public static let notWellFormed = Code("not-well-formed")
        /// The document ends too early.
        public static let truncated = Code("truncated")
        /// Neither UTF-8, US-ASCII nor UTF-16 with a byte order mark, or not valid in it.
        public static let encoding = Code("encoding")
        /// A DOCTYPE, or a reference to an entity that only a DTD could define.
        public static let documentType = Code("document-type")
        /// A bound of ``XMLLimits`` is reached.
        public static let limit = Code("limit")
    }

    public var code: Code
    public var message: String
    public var position: XMLPosition

    public init(code: Code, message: String, position: XMLPosition) {
        self.code = code
        self.message = message
        self.position = position
    }

    public var description: String { "\(position): \(message)" }
}
