import PresenceDocuments

/// A reader or writer of ``PresenceMapper``, for some formats in one direction.
protocol MappingPart: Sendable {
    var compiled: CompiledTables { get }
}

// Rules that several formats share.
extension MappingPart {
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

    /// The lowest availability that means offline.
    var offlineFloor: UInt32 { UInt32(clamping: compiled.classNames.last?.range.lower ?? 18_000) }

    /// Applies a row that maps to availability.
    func apply(_ row: AvailabilityOutcome, text: CanonicalText? = nil, to presence: inout CanonicalPresence, _ trace: inout MappingTrace) {
        presence.availability = UInt32(clamping: row.availability)
        presence.provenance = .derived(rowID: row.row.id)
        var activity = CanonicalActivity(token: row.token, bounds: row.bounds)
        if let custom = row.custom {
            if custom == "{text}" {
                if let text { activity.texts = [text] }
            } else {
                activity.texts = [CanonicalText(custom, language: "en-US", lcid: compiled.languages.lcid(ofLanguage: "en-US", &trace))]
            }
        }
        presence.activity = activity.token == nil && activity.texts.isEmpty ? nil : activity
    }

    /// Whether the idle amount is added to the availability of the class, by the rows of `idle`.
    func isIdleAdded(_ trace: inout MappingTrace) -> Bool {
        guard let row = compiled.combine["idle"]?.first, row.prefer == "both" else { return false }
        trace.use(row.row)
        return true
    }
}
