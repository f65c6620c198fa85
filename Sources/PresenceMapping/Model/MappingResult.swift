/// One thing that a conversion could not say on the other side, and the table row that decided it.
public struct MappingLoss: Sendable, Hashable {
    /// The id of the row in `Mappings/`.
    public var rowID: String
    /// The field of the canonical model, such as `availability-number` or `note-language`.
    public var field: String
    /// The value that was lost, as text.
    public var value: String
    /// What the row says about it.
    public var reason: String

    public init(rowID: String, field: String, value: String, reason: String) {
        self.rowID = rowID
        self.field = field
        self.value = value
        self.reason = reason
    }
}

/// A converted value, with what was lost on the way and the rows that decided it. The verdict and its diagnosis stay apart.
public struct MappingResult<Value: Sendable>: Sendable {
    public var value: Value
    /// In the order in which the losses happened.
    public var losses: [MappingLoss]
    /// Ids of the rows that were used, each once, in the order of first use.
    public var rowIDs: [String]

    public init(_ value: Value, losses: [MappingLoss] = [], rowIDs: [String] = []) {
        self.value = value
        self.losses = losses
        self.rowIDs = rowIDs
    }
}

extension MappingResult: Equatable where Value: Equatable {}

/// Collects the rows and losses of one conversion while it runs.
struct MappingTrace {
    private(set) var losses: [MappingLoss] = []
    private(set) var rowIDs: [String] = []

    init() {
        rowIDs.reserveCapacity(16)
    }

    /// A row decided something; what it loses is reported with the value.
    mutating func use(_ row: RowNote, field: @autoclosure () -> String, value: @autoclosure () -> String) {
        use(row)
        if let loss = row.loss { losses.append(MappingLoss(rowID: row.id, field: field(), value: value(), reason: loss)) }
    }

    /// A row decided something and nothing of it is worth reporting here.
    mutating func use(_ row: RowNote) {
        if !rowIDs.contains(row.id) { rowIDs.append(row.id) }
    }

    func result<Value>(_ value: Value) -> MappingResult<Value> {
        MappingResult(value, losses: losses, rowIDs: rowIDs)
    }
}
