/// Table with columns as wide as their widest cells.
struct TextTable {
    private var rows: [[String]]

    init(_ header: String...) { rows = [header] }

    mutating func add(_ cells: String...) { rows.append(cells) }

    /// Text of the table: every row has a line end, and the last column is not padded.
    var text: String {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        return rows.map { row in
            row.enumerated().map { column, cell in
                column == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[column] - cell.count + 2)
            }.joined() + "\n"
        }.joined()
    }
}
