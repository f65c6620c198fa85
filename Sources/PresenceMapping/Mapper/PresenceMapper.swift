import PresenceDocuments

/// Reads presence documents into the canonical model and writes them from it, by mapping tables. Pure and stateless.
///
/// Each function returns the value with its losses and the deciding rows. ``Converter`` converts bytes to bytes.
public struct PresenceMapper: Sendable {
    /// The mapping tables in use.
    public let tables: MappingTables
    let compiled: CompiledTables

    /// Creates a mapper; by default with the tables of the release.
    public init(tables: MappingTables = .embedded) {
        self.tables = tables
        compiled = tables.compiled
    }

    /// Availability and token for PIDF and msrtc.pidf watchers: from legacyInterop, else from the state, else offline (MS-PRES
    /// 3.7.5.4, 3.7.5.5; a blocked watcher has no legacyInterop and sees offline).
    func legacyState(of presence: CanonicalPresence) -> CanonicalLegacyState {
        if let legacy = presence.legacy { return legacy }
        if let availability = presence.availability {
            return CanonicalLegacyState(availability: availability, token: applicableToken(of: presence, at: availability))
        }
        return CanonicalLegacyState(availability: offline)
    }

    /// The availability published for offline users.
    var offline: UInt32 { UInt32(clamping: compiled.classNames.last?.publish ?? 18_500) }

    /// The token of the activity if its bounds include an availability.
    func applicableToken(of presence: CanonicalPresence, at availability: UInt32) -> String? {
        guard let activity = presence.activity, activity.bounds?.contains(Int(availability)) ?? true else { return nil }
        return activity.token
    }

    // MARK: Losses of whole fields

    /// Reports a field if the target cannot express it, by the table `fields`.
    func lose(_ field: String, _ value: @autoclosure () -> String, to target: String, _ trace: inout MappingTrace) {
        guard let row = compiled.fields[field], row.targets.contains(target) else { return }
        trace.use(row.row, field: field, value: value())
    }

    /// Reports the fields of the source that the canonical model cannot express.
    func loseUnmapped(_ presence: CanonicalPresence, to target: String, _ trace: inout MappingTrace) {
        for unmapped in presence.unmapped { lose(unmapped.field, unmapped.value, to: target, &trace) }
    }

    // MARK: Languages

    /// The language tag of an LCID; nil, with a loss, for an LCID without a row.
    func language(ofLCID lcid: UInt32?, _ trace: inout MappingTrace) -> String? {
        guard let lcid else { return nil }
        if let row = compiled.languageByLCID[Int(lcid)] {
            trace.use(row.row)
            return row.tag
        }
        if let row = compiled.unknownLanguage { trace.use(row, field: "language", value: String(lcid)) }
        return nil
    }

    /// The LCID of a language tag, or of its primary language; nil, with a loss, if there is no row.
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
