/// A value that the target format cannot express, with the table row that decided it.
public struct MappingLoss: Sendable, Hashable {
    /// The id of the row in `Mappings/`.
    public var rowID: String
    /// The field in the canonical model, such as `availability-number` or `note-language`.
    public var field: String
    /// The lost value as text.
    public var value: String
    /// The loss text of the row.
    public var reason: String

    /// Creates a loss.
    public init(rowID: String, field: String, value: String, reason: String) {
        self.rowID = rowID
        self.field = field
        self.value = value
        self.reason = reason
    }
}

/// A converted value with its losses and the rows that decided it.
public struct MappingResult<Value: Sendable>: Sendable {
    /// The converted value.
    public var value: Value
    /// The losses in the order of their occurrence.
    public var losses: [MappingLoss]
    /// Ids of the rows used, each once, in the order of first use.
    public var rowIDs: [String]

    /// Creates a result; by default without losses and rows.
    public init(_ value: Value, losses: [MappingLoss] = [], rowIDs: [String] = []) {
        self.value = value
        self.losses = losses
        self.rowIDs = rowIDs
    }
}

extension MappingResult: Equatable where Value: Equatable {}

/// Collects the rows and losses of one conversion.
struct MappingTrace {
    private(set) var losses: [MappingLoss] = []
    private(set) var rowIDs: [String] = []

    init() {
        rowIDs.reserveCapacity(16)
    }

    /// Records a row, and its loss for a value if it has one.
    mutating func use(_ row: RowNote, field: @autoclosure () -> String, value: @autoclosure () -> String) {
        use(row)
        if let loss = row.loss { losses.append(MappingLoss(rowID: row.id, field: field(), value: value(), reason: loss)) }
    }

    /// Records a row without its loss.
    mutating func use(_ row: RowNote) {
        if !rowIDs.contains(row.id) { rowIDs.append(row.id) }
    }

    func result<Value>(_ value: Value) -> MappingResult<Value> {
        MappingResult(value, losses: losses, rowIDs: rowIDs)
    }
}
