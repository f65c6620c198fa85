/// A row of a mapping table: id, section of the standard or policy, cells, and loss.
public struct MappingRow: Sendable, Hashable {
    /// The id: at most 15 letters, digits and hyphens, unique over all tables.
    public let id: String
    /// The section of the standard that the row implements or interprets.
    public let section: String
    /// The description of the information lost by the row; nil if none is lost.
    public let loss: String?
    /// The line in the file of the table, from 1.
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

/// The numbers from `lower` to `upper`, both included.
public struct NumberRange: Sendable, Hashable, CustomStringConvertible {
    /// The lowest number.
    public var lower: Int
    /// The highest number; nil: unlimited.
    public var upper: Int?

    /// Creates a range.
    public init(_ lower: Int, _ upper: Int?) {
        self.lower = lower
        self.upper = upper
    }

    /// Whether the range includes a number.
    public func contains(_ number: Int) -> Bool {
        number >= lower && (upper.map { number <= $0 } ?? true)
    }

    /// `LOWER-UPPER`, or `>= LOWER` for an unlimited range.
    public var description: String { upper.map { "\(lower)-\($0)" } ?? ">= \(lower)" }
}

/// The type of a column; the values are data.
enum ColumnType: String, Sendable {
    /// A non-empty string.
    case text
    /// An integer with a magnitude of at most 31 bits.
    case integer
    /// true or false.
    case flag
    /// `[lower, upper]`, both included; upper may be null for an unlimited range.
    case range
    /// A list of strings.
    case texts
    /// `open` or `closed`.
    case basic
}
