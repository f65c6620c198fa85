/// Checks of mapping tables beyond their syntax: gaps, overlaps, unreachable rows, repeated ids, references, and rows without a
/// vector.
public enum MappingLint {
    /// Returns all errors in the order of table names and rows; empty if the tables are valid.
    ///
    /// - Parameter hitRows: The ids of the rows used by golden vectors; nil skips that check.
    public static func check(_ tables: MappingTables, hitRows: Set<String>? = nil) -> [MappingTableError] {
        var mistakes: [MappingTableError] = []
        var owner: [String: String] = [:]
        for table in tables.tables.values.sorted(by: { $0.name < $1.name }) {
            for row in table.rows {
                if let other = owner[row.id] {
                    mistakes.append(mistake(table, row, .duplicateRow, "the id is also used in \(other).json"))
                }
                owner[row.id] = table.name
                if let hitRows, !hitRows.contains(row.id) {
                    mistakes.append(mistake(table, row, .notHit, "no golden vector uses the row"))
                }
            }
            if table.schema.covers != nil { checkCover(table, &mistakes) }
            switch table.schema.match {
            case .first: checkReachable(table, &mistakes)
            case .exact, .order: checkUnique(table, &mistakes)
            }
        }
        checkReferences(tables, &mistakes)
        return mistakes
    }

    private static func mistake(_ table: MappingTable, _ row: MappingRow?, _ rule: MappingTableError.Rule, _ message: String)
        -> MappingTableError
    {
        MappingTableError(file: table.name + ".json", line: row?.line ?? 0, row: row?.id, rule: rule, message: message)
    }

    /// Checks that every number from 0 has one row for any token.
    private static func checkCover(_ table: MappingTable, _ mistakes: inout [MappingTableError]) {
        guard let column = table.schema.covers else { return }
        let general = table.rows.filter { row in table.schema.keys.allSatisfy { $0 == column || row.cells[$0] == nil } }
        let ranges = general.compactMap { row in row.range(column).map { (row, $0) } }.sorted { $0.1.lower < $1.1.lower }
        var next = 0
        var isClosed = false
        for (row, range) in ranges {
            if range.lower > next, !isClosed {
                mistakes.append(mistake(table, row, .gap, "no row for \(next)-\(range.lower - 1)"))
            }
            if range.lower < next || isClosed {
                mistakes.append(mistake(table, row, .overlap, "\(range) overlaps the row before it"))
            }
            if let upper = range.upper { next = max(next, upper + 1) } else { isClosed = true }
        }
        if !isClosed { mistakes.append(mistake(table, ranges.last?.0, .gap, "no row for \(next) and above")) }
    }

    /// Checks that no earlier row matches everything that a row matches.
    private static func checkReachable(_ table: MappingTable, _ mistakes: inout [MappingTableError]) {
        for (index, row) in table.rows.enumerated() {
            guard let hider = table.rows[..<index].first(where: { covers($0, row, table.schema) }) else { continue }
            mistakes.append(mistake(table, row, .unreachable, "row \(hider.id) before it takes everything"))
        }
    }

    private static func covers(_ first: MappingRow, _ second: MappingRow, _ schema: MappingSchema) -> Bool {
        schema.keys.allSatisfy { key in
            guard let wide = first.cells[key] else { return true }
            guard let narrow = second.cells[key] else { return false }
            if case .range(let outer) = wide, case .range(let inner) = narrow {
                guard outer.lower <= inner.lower else { return false }
                guard let outerUpper = outer.upper else { return true }
                return inner.upper.map { $0 <= outerUpper } ?? false
            }
            return wide == narrow
        }
    }

    private static func checkUnique(_ table: MappingTable, _ mistakes: inout [MappingTableError]) {
        var seen: [[MappingCell?]: String] = [:]
        for row in table.rows {
            let key = table.schema.keys.map { row.cells[$0] }
            if let other = seen[key] {
                mistakes.append(mistake(table, row, .overlap, "row \(other) has the same key"))
            }
            seen[key] = row.id
        }
    }

    /// Checks that published numbers belong to their class, tokens have a row, and activities apply to their own availability.
    private static func checkReferences(_ tables: MappingTables, _ mistakes: inout [MappingTableError]) {
        let classes = tables.tables["availability-classes"]?.rows ?? []
        for row in classes {
            if let range = row.range("availability"), let number = row.integer("publish"), !range.contains(number),
                let table = tables.tables["availability-classes"]
            {
                mistakes.append(mistake(table, row, .reference, "the published number \(number) is not in the class"))
            }
        }
        let tokens = Set((tables.tables["activity-token-to-rpid"]?.rows ?? []).compactMap { $0.text("token") })
        for name in ["rpid-to-availability", "other-text-to-availability", "msrtc-pidf-to-availability", "xpidf-to-availability"] {
            guard let table = tables.tables[name] else { continue }
            for row in table.rows {
                if let token = row.text("token"), !tokens.contains(token) {
                    mistakes.append(mistake(table, row, .reference, "activity-token-to-rpid has no row for token \(token)"))
                }
                if let number = row.integer("availability"), let bounds = row.range("bounds"), !bounds.contains(number) {
                    mistakes.append(mistake(table, row, .reference, "the activity does not apply at its own availability \(number)"))
                }
            }
        }
    }
}
