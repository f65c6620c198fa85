/// Tables `rpid-to-availability` and `other-text-to-availability`: the availability that an RPID activity means.
struct ActivityTable: Sendable {
    private let rows: [AvailabilityOutcome]
    /// Indexes in `rows` of those that may match an activity name, in table order.
    private let named: [String: [Int]]
    /// Indexes in `rows` of those that match any name.
    private let general: [Int]
    private let byText: [String: AvailabilityOutcome]

    init(_ tableRows: [MappingRow], ofTexts texts: [MappingRow]) {
        let rows = tableRows.map { AvailabilityOutcome($0) }
        self.rows = rows
        var named: [String: [Int]] = [:]
        for name in Set(rows.compactMap(\.rpid)) {
            named[name] = rows.indices.filter { rows[$0].rpid == nil || rows[$0].rpid == name }
        }
        self.named = named
        general = rows.indices.filter { rows[$0].rpid == nil }
        var byText: [String: AvailabilityOutcome] = [:]
        for row in texts {
            if let text = row.text("text") { byText[text.folded] = AvailabilityOutcome(row) }
        }
        self.byText = byText
    }

    /// The row of an activity. An `other` with the text of a known state has its own row unless the service is closed.
    func availability(of activity: CanonicalRPIDActivity, basic: CanonicalBasic?) -> AvailabilityOutcome? {
        if basic != .closed, let text = activity.text, let row = byText[text.folded] { return row }
        let isOpen = basic.map { $0 == .open }
        for index in named[activity.name] ?? general {
            let wanted = rows[index].isOpen
            if wanted == nil || wanted == isOpen { return rows[index] }
        }
        return nil
    }
}

extension String {
    /// The text normalised for table lookups: lower case, hyphens and underscores as blanks, single blanks between words.
    var folded: String {
        lowercased().split { $0 == " " || $0 == "-" || $0 == "_" || $0 == "\t" || $0 == "\n" }.joined(separator: " ")
    }
}
