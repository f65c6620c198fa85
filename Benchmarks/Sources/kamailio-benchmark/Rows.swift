import Measurement

/// Measured row: values of the sides, and what `--check` compares.
struct Row {
    /// Number that `--check` compares with that of the committed table; smaller is better.
    struct Compared {
        enum Basis: String {
            /// Ratio to Kamailio within a round: median, least and greatest of the rounds.
            case ratio
            /// Ratio to Kamailio's median of another row, which is measured without Kamailio itself.
            case reference
            /// The value itself, which is not a time.
            case value
        }

        var basis: Basis
        var median: Double
        var least: Double
        var greatest: Double
    }

    var name: String
    var title: String
    var unit: String
    var values: [Side: Double] = [:]
    var compared: [Side: Compared] = [:]
    /// Processor time of the load for an operation of the first side, in microseconds.
    var load: Double?

    init(name: String, title: String, unit: String) {
        self.name = name
        self.title = title
        self.unit = unit
    }

    /// Adds the medians of the rounds, and the ratios within a round.
    mutating func add(_ sides: [Side], _ rounds: [[Double]]) {
        for (index, side) in sides.enumerated() { values[side] = median(rounds[index]) }
        guard let other = sides.firstIndex(of: .kamailio) else { return }
        for (index, side) in sides.enumerated() where index != other {
            let ratios = zip(rounds[index], rounds[other]).map { $0 / $1 }
            compared[side] = Compared(
                basis: .ratio, median: median(ratios), least: ratios.min() ?? 0, greatest: ratios.max() ?? 0)
        }
    }

    /// Adds a value that is compared itself.
    mutating func add(_ side: Side, value: Double) {
        values[side] = value
        if side != .kamailio { compared[side] = Compared(basis: .value, median: value, least: value, greatest: value) }
    }

    /// Compares times with Kamailio's in another row of the run.
    mutating func refer(to row: Row?) {
        guard let time = row?.values[.kamailio], time > 0 else { return }
        for side in Side.ours {
            guard let value = values[side] else { continue }
            compared[side] = Compared(basis: .reference, median: value / time, least: value / time, greatest: value / time)
        }
    }
}

extension Table {
    /// Prints rows beside each other's sides.
    static func show(_ rows: [Row], title: String) {
        var table = Table("", "unit", "isthmus", "SQLite", "Kamailio", "ratio", "(range)", "SQLite ratio", "(range)", "load us")
        for row in rows {
            func value(_ side: Side) -> String { row.values[side].map { text($0, $0 < 100 ? 2 : 0) } ?? "-" }
            func ratio(_ side: Side) -> [String] {
                guard let compared = row.compared[side], compared.basis != .value else { return ["-", ""] }
                if compared.basis == .reference { return [text(compared.median), "*"] }
                return [text(compared.median), "\(text(compared.least))-\(text(compared.greatest))"]
            }
            table.add(
                row: [row.title, row.unit, value(.memory), value(.sqlite), value(.kamailio)] + ratio(.memory) + ratio(.sqlite)
                    + [row.load.map { text($0, 1) } ?? ""])
        }
        table.show(title: title)
    }
}
