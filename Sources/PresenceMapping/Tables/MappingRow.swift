/// One row of a mapping table: an id, the section of the standard (or our policy) it comes from, cells, and what it loses.
public struct MappingRow: Sendable, Hashable {
    /// Unique in all tables, at most 15 bytes of letters, digits and hyphens.
    public let id: String
    /// The section of the standard that the row states or interprets.
    public let section: String
    /// What is lost when the row is used; absent when nothing is.
    public let loss: String?
    /// The line in the table's file, from 1.
    public let line: Int
    var cells: [String: MappingCell]

    func text(_ column: String) -> String? { if case .text(let value)? = cells[column] { value } else { nil } }
    func integer(_ column: String) -> Int? { if case .integer(let value)? = cells[column] { value } else { nil } }
    func flag(_ column: String) -> Bool { if case .flag(let value)? = cells[column] { value } else { false } }
    func range(_ column: String) -> NumberRange? { if case .range(let value)? = cells[column] { value } else { nil } }
    func texts(_ column: String) -> [String] { if case .texts(let values)? = cells[column] { values } else { [] } }
}

enum MappingCell: Sendable, Hashable {
    case text(String)
    case integer(Int)
    case flag(Bool)
    case range(NumberRange)
    case texts([String])
}

/// Numbers from `lower` to `upper`, both included; without `upper` all from `lower` on.
public struct NumberRange: Sendable, Hashable, CustomStringConvertible {
    public var lower: Int
    public var upper: Int?

    public init(_ lower: Int, _ upper: Int?) {
        self.lower = lower
        self.upper = upper
    }

    public func contains(_ number: Int) -> Bool {
        number >= lower && (upper.map { number <= $0 } ?? true)
    }

    public var description: String { upper.map { "\(lower)-\($0)" } ?? ">= \(lower)" }
}

/// The type of a column. Code knows column types, never the values in them.
enum ColumnType: String, Sendable {
    /// A string.
    case text
    /// A whole number of at most 31 bits.
    case integer
    /// true or false.
    case flag
    /// `[lower, upper]`, both included; upper may be null.
    case range
    /// A list of strings.
    case texts
    /// `open` or `closed`.
    case basic
}
