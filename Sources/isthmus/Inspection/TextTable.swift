/// Rows of columns, each as wide as its widest cell.
struct TextTable {
    private var rows: [[String]]

    init(_ header: String...) { rows = [header] }

    mutating func add(_ cells: String...) { rows.append(cells) }

    /// Every row ends with a line end; the last column is not padded.
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
