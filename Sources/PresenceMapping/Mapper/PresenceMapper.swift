import PresenceDocuments

/// Reads every presence document into the canonical model and writes it again, by the tables it was given. Pure and stateless.
///
/// Each function returns the value with what was lost and which rows decided. See ``Converter`` for bytes to bytes.
public struct PresenceMapper: Sendable {
    public let tables: MappingTables
    let compiled: CompiledTables

    public init(tables: MappingTables = .embedded) {
        self.tables = tables
        compiled = tables.compiled
    }

    /// The number and token that PIDF and msrtc.pidf watchers are told: legacyInterop where it is there, else the state, else offline
    /// (MS-PRES 3.7.5.4, 3.7.5.5; a blocked watcher has no legacyInterop and sees offline).
    func legacyState(of presence: CanonicalPresence) -> CanonicalLegacyState {
        if let legacy = presence.legacy { return legacy }
        if let availability = presence.availability {
            return CanonicalLegacyState(availability: availability, token: applicableToken(of: presence, at: availability))
        }
        return CanonicalLegacyState(availability: offline)
    }

    /// The number that says offline.
    var offline: UInt32 { UInt32(clamping: compiled.classNames.last?.publish ?? 18_500) }

    /// The token of the activity where it holds at a number.
    func applicableToken(of presence: CanonicalPresence, at availability: UInt32) -> String? {
        guard let activity = presence.activity, activity.bounds?.contains(Int(availability)) ?? true else { return nil }
        return activity.token
    }

    // MARK: Losses of a whole field

    /// Reports a field that a target cannot say.
    func lose(_ field: String, _ value: @autoclosure () -> String, to target: String, _ trace: inout MappingTrace) {
        guard let row = compiled.fields[field], row.targets.contains(target) else { return }
        trace.use(row.row, field: field, value: value())
    }

    /// Reports the fields that no writer but that of the source's own family can say.
    func loseUnmapped(_ presence: CanonicalPresence, to target: String, _ trace: inout MappingTrace) {
        for unmapped in presence.unmapped { lose(unmapped.field, unmapped.value, to: target, &trace) }
    }

    // MARK: Languages

    /// The language tag of an LCID; an LCID without row is reported and has none.
    func language(ofLCID lcid: UInt32?, _ trace: inout MappingTrace) -> String? {
        guard let lcid else { return nil }
        if let row = compiled.languageByLCID[Int(lcid)] {
            trace.use(row.row)
            return row.tag
        }
        if let row = compiled.unknownLanguage { trace.use(row, field: "language", value: String(lcid)) }
        return nil
    }

    /// The LCID of a language tag: of the whole tag, else of its primary language; one without row is reported.
    func lcid(ofLanguage tag: String?, _ trace: inout MappingTrace) -> UInt32? {
        guard let tag, !tag.isEmpty else { return nil }
        let folded = tag.lowercased()
        if let row = compiled.languageByTag[folded] ?? compiled.languageByTag[String(folded.prefix { $0 != "-" })] {
            trace.use(row.row)
            return UInt32(exactly: row.lcid)
        }
        if let row = compiled.unknownLanguage { trace.use(row, field: "language", value: tag) }
        return nil
    }
}
