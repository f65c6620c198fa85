/// A mistake in a mapping table: the operator's or the maintainer's fault, never a peer's.
public struct MappingTableError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The rule that was broken. Open, so that new rules need no new release of their readers.
    public struct Rule: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        public init(_ description: String) {
            self.description = description
        }

        public static let fileMissing = Rule("file-missing")
        public static let unknownFile = Rule("unknown-file")
        public static let notJSON = Rule("not-json")
        public static let tableShape = Rule("table-shape")
        public static let unknownColumn = Rule("unknown-column")
        public static let missingColumn = Rule("missing-column")
        public static let columnType = Rule("column-type")
        public static let unknownWord = Rule("unknown-word")
        public static let rowID = Rule("row-id")
        public static let duplicateRow = Rule("duplicate-row")
        public static let sectionMissing = Rule("section-missing")
        public static let gap = Rule("gap")
        public static let overlap = Rule("overlap")
        public static let unreachable = Rule("unreachable")
        public static let notHit = Rule("not-hit-by-a-vector")
        public static let reference = Rule("reference")
    }

    /// The name of the table's file, with `.json`.
    public var file: String
    /// The line in the file, from 1; 0 where no line applies.
    public var line: Int
    /// The id of the row, where the mistake is in a row that has one.
    public var row: String?
    public var rule: Rule
    public var message: String

    public init(file: String, line: Int = 0, row: String? = nil, rule: Rule, message: String) {
        self.file = file
        self.line = line
        self.row = row
        self.rule = rule
        self.message = message
    }

    /// `FILE:LINE: row ID: message [rule]`
    public var description: String {
        var text = file
        if line > 0 { text += ":\(line)" }
        if let row { text += ": row \(row)" }
        return text + ": \(message) [\(rule)]"
    }
}
