/// An error in a mapping table, made by the operator or a maintainer.
public struct MappingTableError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The broken rule. Extensible: readers must accept unknown rules.
    public struct Rule: Hashable, Sendable, CustomStringConvertible {
        /// The name of the rule, such as `missing-column`.
        public let description: String

        /// Creates a rule.
        public init(_ description: String) {
            self.description = description
        }

        /// A table has no file.
        public static let fileMissing = Rule("file-missing")
        /// A file name belongs to no table.
        public static let unknownFile = Rule("unknown-file")
        /// The file is no JSON.
        public static let notJSON = Rule("not-json")
        /// The members of the table or row have a wrong type or name.
        public static let tableShape = Rule("table-shape")
        /// A row has a cell outside the table's columns.
        public static let unknownColumn = Rule("unknown-column")
        /// A row lacks a required cell.
        public static let missingColumn = Rule("missing-column")
        /// A cell has a wrong type.
        public static let columnType = Rule("column-type")
        /// A cell has a word that code does not know.
        public static let unknownWord = Rule("unknown-word")
        /// The id of a row is absent or malformed.
        public static let rowID = Rule("row-id")
        /// An id is used twice.
        public static let duplicateRow = Rule("duplicate-row")
        /// A table or row cites no section.
        public static let sectionMissing = Rule("section-missing")
        /// A number has no row.
        public static let gap = Rule("gap")
        /// Two rows match the same key or number.
        public static let overlap = Rule("overlap")
        /// An earlier row matches everything that a row matches.
        public static let unreachable = Rule("unreachable")
        /// No golden vector uses a row.
        public static let notHit = Rule("not-hit-by-a-vector")
        /// A cell refers to a number or token without a row.
        public static let reference = Rule("reference")
    }

    /// The file name of the table, with `.json`.
    public var file: String
    /// The line in the file, from 1; 0 if no line applies.
    public var line: Int
    /// The id of the row; nil if the error is outside a row with an id.
    public var row: String?
    /// The broken rule.
    public var rule: Rule
    /// The error text without file, line and row.
    public var message: String

    /// Creates an error.
    public init(file: String, line: Int = 0, row: String? = nil, rule: Rule, message: String) {
        self.file = file
        self.line = line
        self.row = row
        self.rule = rule
        self.message = message
    }

    /// `FILE:LINE: row ID: MESSAGE [RULE]`; absent parts are left out.
    public var description: String {
        var text = file
        if line > 0 { text += ":\(line)" }
        if let row { text += ": row \(row)" }
        return text + ": \(message) [\(rule)]"
    }
}
