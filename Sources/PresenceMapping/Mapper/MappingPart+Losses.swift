import PresenceDocuments

// Reports of the parts of a source that the target cannot express.
extension MappingPart {
    /// Reports a field if the target cannot express it, by the table `fields`.
    func lose(_ field: String, _ value: @autoclosure () -> String, to target: String, _ trace: inout MappingTrace) {
        guard let row = compiled.fields[field], row.targets.contains(target) else { return }
        trace.use(row.row, field: field, value: value())
    }

    /// Reports the fields of the source that the canonical model cannot express.
    func loseUnmapped(_ presence: CanonicalPresence, to target: String, _ trace: inout MappingTrace) {
        for unmapped in presence.unmapped { lose(unmapped.field, unmapped.value, to: target, &trace) }
    }

    /// Reports an availability that is not the published number of its class, because a reader cannot restore it.
    func loseNumber(_ availability: UInt32, to target: String, _ trace: inout MappingTrace) {
        guard let known = compiled.classes.find(Int(availability), token: nil) else { return }
        trace.use(known.row)
        if availability != UInt32(clamping: known.publish) {
            lose("availability-number", String(availability), to: target, &trace)
        }
    }

    /// Reports the parts of a state that a target with one number and one word cannot express.
    func loseState(_ presence: CanonicalPresence, to target: String, _ trace: inout MappingTrace) {
        if let activity = presence.activity {
            if activity.bounds != nil, presence.provenance == .published {
                lose("activity-bounds", activity.bounds?.description ?? "", to: target, &trace)
            }
            for text in activity.texts { lose("custom-activity", text.text, to: target, &trace) }
        }
        for activity in presence.activities where activity.from != nil || activity.until != nil {
            lose("activity-interval", activity.name, to: target, &trace)
        }
        if let lastActive = presence.lastActive { lose("last-active", lastActive.text, to: target, &trace) }
        loseUnmapped(presence, to: target, &trace)
    }

    /// Reports notes, card, services and calendar that the target cannot express.
    func loseWords(_ presence: CanonicalPresence, to target: String, _ trace: inout MappingTrace) {
        for note in presence.notes { lose("note", note.text, to: target, &trace) }
        if let name = presence.displayNames.first { lose("display-name", name.text, to: target, &trace) }
        for name in presence.displayNames.dropFirst() { lose("further-name", name.text, to: target, &trace) }
        for email in presence.emails { lose("email", email, to: target, &trace) }
        for phone in presence.phones { lose("phone", phone.uri, to: target, &trace) }
        for link in presence.links { lose("url", link.uri, to: target, &trace) }
        if let icon = presence.icon { lose("icon", icon, to: target, &trace) }
        loseCard(presence, to: target, &trace)
        for capability in presence.capabilities ?? [] { lose("capabilities", capability.name, to: target, &trace) }
        if let zone = presence.timeZone { lose("time-zone", zone.name ?? zone.bias.map(String.init) ?? "", to: target, &trace) }
        if let location = presence.location { lose("location", location, to: target, &trace) }
        if let meeting = presence.meeting { lose("meeting", meeting.subject?.text ?? meeting.location?.text ?? "", to: target, &trace) }
        if let device = presence.device { lose("device", device, to: target, &trace) }
        if presence.freeBusy != nil { lose("free-busy", "", to: target, &trace) }
    }

    /// Reports the parts of a contact card that only a card can express.
    func loseCard(_ presence: CanonicalPresence, to target: String, _ trace: inout MappingTrace) {
        for text in presence.titles { lose("title", text.text, to: target, &trace) }
        for text in presence.companies { lose("company", text.text, to: target, &trace) }
        for text in presence.departments { lose("department", text.text, to: target, &trace) }
        for text in presence.offices { lose("office", text.text, to: target, &trace) }
    }
}
