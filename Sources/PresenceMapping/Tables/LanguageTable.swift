/// Table `languages`: language tags and LCIDs.
struct LanguageTable: Sendable {
    private let byLCID: [Int: LanguageOutcome]
    private let byTag: [String: LanguageOutcome]
    private let unknown: RowNote?

    init(_ rows: [MappingRow]) {
        var byLCID: [Int: LanguageOutcome] = [:]
        var byTag: [String: LanguageOutcome] = [:]
        var unknown: RowNote?
        for row in rows {
            guard let lcid = row.integer("lcid"), let tag = row.text("tag") else {
                unknown = unknown ?? RowNote(row)
                continue
            }
            let outcome = LanguageOutcome(row: RowNote(row), lcid: lcid, tag: tag)
            byLCID[lcid] = outcome
            byTag[tag.lowercased()] = outcome
            if row.flag("primary"), let primary = tag.split(separator: "-").first { byTag[primary.lowercased()] = outcome }
        }
        self.byLCID = byLCID
        self.byTag = byTag
        self.unknown = unknown
    }

    /// The language tag of an LCID; nil, with a loss, for an LCID without a row.
    func language(ofLCID lcid: UInt32?, _ trace: inout MappingTrace) -> String? {
        guard let lcid else { return nil }
        if let row = byLCID[Int(lcid)] {
            trace.use(row.row)
            return row.tag
        }
        if let row = unknown { trace.use(row, field: "language", value: String(lcid)) }
        return nil
    }

    /// The LCID of a language tag, or of its primary language; nil, with a loss, if there is no row.
    func lcid(ofLanguage tag: String?, _ trace: inout MappingTrace) -> UInt32? {
        guard let tag, !tag.isEmpty else { return nil }
        let folded = tag.lowercased()
        if let row = byTag[folded] ?? byTag[String(folded.prefix { $0 != "-" })] {
            trace.use(row.row)
            return UInt32(exactly: row.lcid)
        }
        if let row = unknown { trace.use(row, field: "language", value: tag) }
        return nil
    }
}
