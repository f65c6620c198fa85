import Glibc
import Measurement

/// File of measured rows: tab-separated, one line for each row and side, after lines of `#` with the circumstances.
struct CommittedTable {
    struct Line {
        var row: String
        var side: Side
        var unit: String
        var value: Double
        var basis: String
        var compared: Double
        var least: Double
        var greatest: Double
    }

    private(set) var circumstances: [String] = []
    private(set) var lines: [Line] = []

    private static let head = "row\tside\tunit\tvalue\tbasis\tcompared\tleast\tgreatest"

    init(_ rows: [Row], circumstances: [String]) {
        self.circumstances = circumstances
        for row in rows {
            for side in Side.allCases {
                guard let value = row.values[side] else { continue }
                let compared = row.compared[side]
                lines.append(
                    Line(
                        row: row.name, side: side, unit: row.unit, value: value, basis: compared?.basis.rawValue ?? "",
                        compared: compared?.median ?? 0, least: compared?.least ?? 0, greatest: compared?.greatest ?? 0))
            }
        }
    }

    /// Reads a file; nil with a printed reason when it is not such a table.
    init?(reading path: String) {
        guard let file = fopen(path, "r") else {
            print("kamailio-benchmark: cannot read \(path)")
            return nil
        }
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 4_096)
        var number = 0
        while fgets(&buffer, 4_096, file) != nil {
            number += 1
            var text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.last == "\n" { text.removeLast() }
            if text.hasPrefix("# ") {
                circumstances.append(String(text.dropFirst(2)))
                continue
            }
            if text == Self.head || text.isEmpty { continue }
            let cells = text.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard cells.count == 8, let side = Side(rawValue: cells[1]), let value = Double(cells[3]), let compared = Double(cells[5]),
                let least = Double(cells[6]), let greatest = Double(cells[7]),
                cells[4].isEmpty || Row.Compared.Basis(rawValue: cells[4]) != nil
            else {
                print("\(path):\(number): not a line of the table; write the table again with --write")
                return nil
            }
            lines.append(
                Line(
                    row: cells[0], side: side, unit: cells[2], value: value, basis: cells[4], compared: compared, least: least,
                    greatest: greatest))
        }
    }

    /// Writes the file; false when it cannot be written.
    func write(to path: String) -> Bool {
        guard let file = fopen(path, "w") else { return false }
        defer { fclose(file) }
        for line in circumstances { fputs("# \(line)\n", file) }
        fputs(Self.head + "\n", file)
        for line in lines {
            fputs(
                "\(line.row)\t\(line.side.rawValue)\t\(line.unit)\t\(text(line.value))\t\(line.basis)\t\(text(line.compared, 3))"
                    + "\t\(text(line.least, 3))\t\(text(line.greatest, 3))\n", file)
        }
        return true
    }

    /// Takes over the lines of some rows from another table.
    mutating func replace(_ rows: Set<String>, by other: CommittedTable) {
        lines = lines.filter { !rows.contains($0.row) } + other.lines.filter { rows.contains($0.row) }
    }

    /// Rows that moved by more than a tenth between a committed table and a new run.
    struct Moves {
        fileprivate var lines: [(old: Line, now: Line)] = []
        fileprivate(set) var compared = 0
        /// Compared lines of the committed table that the new run lacks.
        fileprivate(set) var missing = 0

        var worse: Set<String> { Set(lines.filter { $0.now.compared > $0.old.compared }.map(\.old.row)) }

        func show() {
            var table = Table("", "side", "committed", "(range)", "now", "(range)", "moved")
            for (old, now) in lines {
                let difference = now.compared - old.compared
                table.add(
                    old.row, old.side.title, text(old.compared, 3), CommittedTable.range(old), text(now.compared, 3),
                    CommittedTable.range(now),
                    (difference > 0 ? "worse, +" : "better, -")
                        + (old.compared > 0 ? text(abs(difference) / old.compared * 100, 0) + " %" : ""))
            }
            if !lines.isEmpty { table.show(title: "Moved by more than 10 %") }
            print("\n\(compared) compared, \(lines.count) moved by more than 10 %; \(missing) of the committed table not measured")
        }
    }

    func moves(to new: CommittedTable) -> Moves {
        var moves = Moves()
        for old in lines where !old.basis.isEmpty {
            guard let now = new.lines.first(where: { $0.row == old.row && $0.side == old.side }), now.basis == old.basis else {
                moves.missing += 1
                continue
            }
            moves.compared += 1
            // A tenth of a system call or allocation is what timers do meanwhile.
            let difference = abs(now.compared - old.compared)
            if difference > old.compared / 10, difference > (old.unit == "count" ? 0.1 : 0.005) { moves.lines.append((old, now)) }
        }
        return moves
    }

    private static func range(_ line: Line) -> String {
        line.least == line.greatest ? "" : "\(text(line.least, 3))-\(text(line.greatest, 3))"
    }
}
