/// Table for the terminal: first column left-aligned, others right-aligned.
public struct Table {
    private var rows: [[String]]

    public init(_ head: String...) { rows = [head] }

    /// Creates a table with this head.
    public init(head: [String]) { rows = [head] }

    public mutating func add(_ cells: String...) { rows.append(cells) }

    /// Adds a row of these cells.
    public mutating func add(row cells: [String]) { rows.append(cells) }

    public func show(title: String) {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        print("\n\(title)")
        for row in rows {
            let cells = row.enumerated().map { index, text in
                let filling = String(repeating: " ", count: widths[index] - text.count)
                return index == 0 ? text + filling : filling + text
            }
            print("  " + cells.joined(separator: "  "))
        }
    }
}

/// Formats a number with this many digits after the point.
public func text(_ value: Double, _ digits: Int = 2) -> String {
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let scaled = (value * scale).rounded()
    guard digits > 0 else { return String(Int(scaled)) }
    let whole = Int(scaled / scale)
    let rest = String(Int(scaled - Double(whole) * scale))
    return "\(whole)." + String(repeating: "0", count: digits - rest.count) + rest
}

/// Formats a rate per second in thousands, with one decimal for small values.
public func perSecond(_ nanoseconds: Double) -> String {
    let rate = 1e9 / max(nanoseconds, 0.001)
    return rate >= 100_000 ? text(rate / 1_000, 0) + " k" : text(rate / 1_000, 1) + " k"
}
