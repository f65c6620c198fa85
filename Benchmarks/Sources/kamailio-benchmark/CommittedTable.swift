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

    /// Prints what moved by more than a tenth between this table and a new run, and what only one of them has.
    /// - Parameter isWhole: Whether the new run measured every row, so that a missing one counts as worse.
    /// - Returns: Whether nothing became worse.
    func compare(with new: CommittedTable, isWhole: Bool) -> Bool {
        var table = Table("", "side", "committed", "(range)", "now", "(range)", "moved")
        var (compared, moved, worse, missing) = (0, 0, 0, 0)
        for old in lines where !old.basis.isEmpty {
            guard let now = new.lines.first(where: { $0.row == old.row && $0.side == old.side }), now.basis == old.basis else {
                missing += 1
                continue
            }
            compared += 1
            let difference = now.compared - old.compared
            // A tenth of a system call or allocation is what timers do meanwhile.
            guard abs(difference) > old.compared / 10, abs(difference) > (old.unit == "count" ? 0.1 : 0.005) else { continue }
            moved += 1
            if difference > 0 { worse += 1 }
            table.add(
                old.row, old.side.title, text(old.compared, 3), Self.range(old), text(now.compared, 3), Self.range(now),
                (difference > 0 ? "worse +" : "better -") + (old.compared > 0 ? text(abs(difference) / old.compared * 100, 0) + " %" : ""))
        }
        print("\nCommitted table: " + circumstances.joined(separator: "; "))
        if moved > 0 { table.show(title: "Moved by more than 10 %") }
        print("\n\(compared) compared, \(moved) moved by more than 10 %, \(worse) worse, \(missing) of the committed table not measured")
        return worse == 0 && compared > 0 && (missing == 0 || !isWhole)
    }

    private static func range(_ line: Line) -> String {
        line.least == line.greatest ? "" : "\(text(line.least, 3))-\(text(line.greatest, 3))"
    }
}
