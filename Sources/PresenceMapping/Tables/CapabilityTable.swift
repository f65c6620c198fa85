/// Table `capabilities`: capabilities of services in both models.
struct CapabilityTable: Sendable {
    /// Rows by the name of an enhanced capability, with the element of RFC 5196.
    let elements: [String: WordOutcome]
    /// Rows by the element of RFC 5196, with the name of an enhanced capability.
    let names: [String: WordOutcome]
    /// The capability of a user without one in the document; nil without rows.
    let standard: (row: RowNote, name: String)?

    init(_ rows: [MappingRow]) {
        var elements: [String: WordOutcome] = [:]
        var names: [String: WordOutcome] = [:]
        for row in rows {
            guard let capability = row.text("capability") else { continue }
            if row.text("direction") != "from-pidf" { elements[capability] = WordOutcome(row: RowNote(row), word: row.text("caps")) }
            if let caps = row.text("caps") { names[caps] = WordOutcome(row: RowNote(row), word: capability) }
        }
        self.elements = elements
        self.names = names
        standard = rows.first.flatMap { row in row.text("capability").map { (RowNote(row), $0) } }
    }
}
