/// Table `time-zones`.
struct TimeZoneTable: Sendable {
    let byName: [String: TimeZoneOutcome]
    let byBias: [Int: TimeZoneOutcome]
    let unknown: RowNote?

    init(_ rows: [MappingRow]) {
        var byName: [String: TimeZoneOutcome] = [:]
        var byBias: [Int: TimeZoneOutcome] = [:]
        var unknown: RowNote?
        for row in rows {
            guard let name = row.text("name"), let bias = row.integer("bias") else {
                unknown = unknown ?? RowNote(row)
                continue
            }
            let outcome = TimeZoneOutcome(row: RowNote(row), name: name, abbreviation: row.text("abbreviation"), bias: bias)
            byName[name] = outcome
            if byBias[bias] == nil { byBias[bias] = outcome }
        }
        self.byName = byName
        self.byBias = byBias
        self.unknown = unknown
    }
}
