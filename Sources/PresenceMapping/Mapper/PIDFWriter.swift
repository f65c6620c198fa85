import PresenceDocuments
import XMLCore

/// Writes the canonical model as PIDF.
struct PIDFWriter: MappingPart {
    let compiled: CompiledTables

    func pidf(
        from presence: CanonicalPresence, profile: PIDFProfile = .rpid, lossless: Bool = false, at moment: DateTime? = nil
    ) -> MappingResult<PIDFDocument> {
        var trace = MappingTrace()
        if case .pidf(var document) = presence.residue, (document.form == .draft) == (profile == .rpidDraft) {
            if !lossless { document.exact = nil }
            return trace.result(document)
        }
        var document =
            profile == .rpidDraft
            ? draft(presence, lossless: lossless, &trace)
            : standard(presence, profile: profile, lossless: lossless, at: moment, &trace)
        if lossless { document.exact = exact(presence) }
        return trace.result(document)
    }

    // MARK: State

    private struct Status {
        var isOpen: Bool?
        /// RPID activities by name; the one from the normative table comes first.
        var activities: [String] = []
        var others: [PIDFNote] = []
        /// An activity for readers that do not know the first of ``activities``; written before it.
        var also: String?
        var isOnline = false
    }

    private func tableStatus(_ presence: CanonicalPresence, target: String, lossless: Bool, _ trace: inout MappingTrace) -> Status {
        let state = legacyState(of: presence)
        guard let row = compiled.toPIDF.find(Int(state.availability), token: state.token) else { return Status(isOpen: false) }
        if lossless {
            trace.use(row.row)
        } else {
            trace.use(row.row, field: "availability", value: String(state.availability))
            if row.row.loss == nil { loseNumber(state.availability, to: target, &trace) }
        }
        if target == "pidf-draft", let token = state.token, row.token != token, !lossless {
            lose("activity-token", token, to: target, &trace)
        }
        return Status(isOpen: row.isOpen, activities: row.rpid.map { [$0] } ?? [], also: row.also, isOnline: row.isOnline)
    }

    private func status(_ presence: CanonicalPresence, lossless: Bool, _ trace: inout MappingTrace) -> Status {
        if presence.basic != nil || !presence.activities.isEmpty {
            var status = Status(isOpen: presence.basic.map { $0 == .open })
            for activity in presence.activities {
                if activity.name == "other", let text = activity.text {
                    status.others.append(PIDFNote(text, language: activity.language))
                } else {
                    status.activities.append(activity.name)
                }
            }
            return status
        }
        var status = tableStatus(presence, target: "pidf", lossless: lossless, &trace)
        // A legacyInterop alone is mapped by the normative table only; a state adds its token and texts.
        guard presence.legacy == nil || presence.exactState != nil, let availability = presence.availability,
            let activity = presence.activity
        else {
            if !lossless, let token = presence.legacy?.token, !status.activities.contains(token) {
                lose("activity-token", token, to: "pidf", &trace)
            }
            return status
        }
        let applies = activity.bounds?.contains(Int(availability)) ?? true
        if let token = activity.token {
            let row = compiled.tokens.first {
                ($0.token == nil || $0.token == token)
                    && ($0.availability.map { applies && $0.contains(Int(availability)) } ?? true)
            }
            if let row {
                if lossless { trace.use(row.row) } else { trace.use(row.row, field: "activity-token", value: token) }
                if let rpid = row.rpid, !status.activities.contains(rpid) { status.activities.append(rpid) }
                if let other = row.other { status.others.append(PIDFNote(other == "{token}" ? token : other)) }
            }
        }
        if applies {
            for text in activity.texts { status.others.append(PIDFNote(text.text, language: text.language)) }
        } else if !lossless {
            for text in activity.texts { lose("custom-activity", text.text, to: "pidf-draft", &trace) }
        }
        if activity.bounds != nil, !lossless, presence.provenance == .published {
            lose("activity-bounds", activity.bounds?.description ?? "", to: "pidf", &trace)
        }
        return status
    }

    // MARK: Profiles

    private func draft(_ presence: CanonicalPresence, lossless: Bool, _ trace: inout MappingTrace) -> PIDFDocument {
        let status = tableStatus(presence, target: "pidf-draft", lossless: lossless, &trace)
        var document = PIDFDocument(entity: presence.entity)
        document.form = .draft
        var tuple = PIDFTuple(id: "0", basic: status.isOpen.map { $0 ? .open : .closed })
        if let activity = status.activities.first { tuple.rpid.activities = [RPIDList([RPIDActivity(activity)])] }
        document.tuples = [tuple]
        document.cipid.displayName = presence.displayNames.first?.text
        if presence.activities.count > 1 {
            for activity in presence.activities.dropFirst() {
                lose("activities", activity.text ?? activity.name, to: "pidf-draft", &trace)
            }
        }
        if !lossless { loseState(presence, to: "pidf-draft", &trace) }
        loseWords(presence, to: "pidf-draft", &trace)
        return document
    }

    private func standard(
        _ presence: CanonicalPresence, profile: PIDFProfile, lossless: Bool, at moment: DateTime?, _ trace: inout MappingTrace
    ) -> PIDFDocument {
        var document = PIDFDocument(entity: presence.entity)
        let status = status(presence, lossless: lossless, &trace)

        var tuple = PIDFTuple(id: "t0", basic: status.isOpen.map { $0 ? .open : .closed })
        tuple.contact = PIDFContact(uri: presence.serviceURI ?? presence.entity)
        tuple.timestamp = presence.timestamp
        tuple.capabilities = capabilities(presence, &trace)
        if let freeBusy = presence.freeBusy { tuple.timedStatuses = timedStatuses(freeBusy, at: moment, &trace) }

        var person = PIDFPerson(id: "p0")
        // PJSIP reads the first activity only.
        let names = [status.also].compactMap { $0 }.filter { !status.activities.contains($0) } + status.activities
        var activities = RPIDList(names.map { RPIDActivity($0) }, others: status.others)
        if let subject = presence.meeting?.subject {
            activities.info.notes = [PIDFNote(subject.text, language: subject.language)]
            if activities.values.isEmpty, activities.others.isEmpty { activities.values = [.unknown] }
        }
        if let timed = presence.activities.first {
            activities.info.from = timed.from
            activities.info.until = timed.until
        }
        if !activities.values.isEmpty || !activities.others.isEmpty {
            person.rpid.activities = [activities]
            if status.isOnline, let online = LinphoneOnline.fragment { tuple.statusExtensions.append(online) }
        }
        if presence.isIdle == true || presence.lastActive != nil {
            // An enhanced source has lastActive only for inactive users (MS-PRES 3.8.5.1.2.4).
            let isIdle = presence.provenance == .published || (presence.isIdle ?? true)
            person.rpid.userInputs = [RPIDUserInput(isIdle: isIdle, lastInput: presence.lastActive)]
        } else if presence.isIdle == false, presence.provenance != .published {
            person.rpid.userInputs = [RPIDUserInput(isIdle: false)]
        }
        person.rpid.placeTypes = placeTypes(presence, &trace)
        if let zone = presence.timeZone, let bias = zone.bias {
            person.rpid.timeOffsets = [RPIDTimeOffset(minutes: -bias, description: zone.name ?? zone.abbreviation)]
            let known = zone.name.flatMap { compiled.zones.byName[$0] } ?? compiled.zones.byBias[bias]
            if let known {
                trace.use(known.row)
            } else if let unknown = compiled.zones.unknown {
                trace.use(unknown, field: "time-zone", value: String(bias))
            }
            if zone.name != nil, let abbreviation = zone.abbreviation, known?.abbreviation != abbreviation {
                lose("time-zone-name", abbreviation, to: "pidf", &trace)
            }
        } else if let zone = presence.timeZone {
            lose("time-zone-name", zone.name ?? zone.abbreviation ?? "", to: "pidf", &trace)
        }
        person.cipid.displayName = presence.displayNames.first?.text
        for name in presence.displayNames.dropFirst() { lose("further-name", name.text, to: "pidf", &trace) }
        person.cipid.icon = presence.icon
        if presence.icon != nil, let row = compiled.contacts.rows.first(where: { $0.element == "icon" }) { trace.use(row.row) }
        for link in presence.links { write(link, to: &person.cipid, &trace) }
        for note in presence.notes {
            person.notes.append(PIDFNote(note.text, language: note.language))
            if note.kind == .outOfOffice { lose("note-type", note.text, to: "pidf", &trace) }
            if note.start != nil || note.end != nil { lose("note-interval", note.text, to: "pidf", &trace) }
        }
        person.timestamp = presence.timestamp
        if profile == .oma { addWillingness(presence, isOpen: status.isOpen, tuple: &tuple, &trace) }

        document.tuples = [tuple] + addresses(presence, &trace)
        let bare = PIDFPerson(id: person.id)
        var compared = person
        compared.timestamp = nil
        if compared != bare { document.persons = [person] }
        if let device = presence.device { lose("device", device, to: "pidf", &trace) }
        loseCard(presence, to: "pidf", &trace)
        loseUnmapped(presence, to: "pidf", &trace)
        return document
    }

    // MARK: Parts

    private func placeTypes(_ presence: CanonicalPresence, _ trace: inout MappingTrace) -> [RPIDList<LocationType>] {
        let note = presence.meeting?.location.map { [PIDFNote($0.text, language: $0.language)] } ?? []
        guard let location = presence.location else {
            guard let meeting = presence.meeting?.location else { return [] }
            // place-type needs a value besides its note (RFC 4480 3.6).
            return [RPIDList([], others: [PIDFNote(meeting.text, language: meeting.language)], info: RPIDInfo(notes: note))]
        }
        if let row = compiled.places.place(of: location), let place = row.word {
            trace.use(row.row, field: "location", value: location)
            return [RPIDList([LocationType(place)], info: RPIDInfo(notes: note))]
        }
        if let row = compiled.places.other { trace.use(row, field: "location", value: location) }
        return [RPIDList([], others: [PIDFNote(location)], info: RPIDInfo(notes: note))]
    }

    private func capabilities(_ presence: CanonicalPresence, _ trace: inout MappingTrace) -> ServiceCapabilities? {
        guard let said = presence.capabilities, !said.isEmpty else { return nil }
        var capabilities = ServiceCapabilities()
        var isAny = false
        for capability in said {
            guard let row = compiled.capabilities.elements[capability.name] else {
                lose("further-capability", capability.name, to: "pidf", &trace)
                continue
            }
            trace.use(row.row, field: "capabilities", value: capability.name)
            guard let word = row.word else { continue }
            if let element = ServiceCapabilities.booleans.first(where: { $0.name == word }) {
                capabilities[keyPath: element.value] = capability.render || capability.capture
            }
            isAny = true
        }
        return isAny ? capabilities : nil
    }

    private func write(_ link: CanonicalLink, to cipid: inout CIPID, _ trace: inout MappingTrace) {
        let row = compiled.contacts.rows.first { $0.kind == "url" && $0.type == link.type }
        guard let row else { return lose("further-url", link.uri, to: "pidf", &trace) }
        trace.use(row.row, field: "url", value: link.uri)
        guard row.element == "homepage" else { return }
        if cipid.homepage == nil { cipid.homepage = link.uri } else { lose("further-url", link.uri, to: "pidf", &trace) }
    }

    /// One tuple without status for each phone number and mailbox.
    private func addresses(_ presence: CanonicalPresence, _ trace: inout MappingTrace) -> [PIDFTuple] {
        var tuples: [PIDFTuple] = []
        for phone in presence.phones {
            let row =
                compiled.contacts.rows.first { $0.kind == "phone" && $0.type == phone.type && $0.relationship == nil }
                ?? compiled.contacts.rows.first { $0.kind == "phone" && $0.label == nil && $0.relationship == nil }
            guard let row else { continue }
            trace.use(row.row, field: "phone", value: phone.uri)
            var tuple = PIDFTuple(id: "phone\(tuples.count)")
            tuple.contact = PIDFContact(uri: phone.uri)
            if let label = row.label { tuple.rpid.classes = [RPIDText(label)] }
            tuples.append(tuple)
            if let display = phone.display, !phone.uri.hasSuffix(":" + display) { lose("phone-display", display, to: "pidf", &trace) }
        }
        for (index, email) in presence.emails.enumerated() {
            guard let row = compiled.contacts.rows.first(where: { $0.kind == "email" }), let scheme = row.scheme else { continue }
            trace.use(row.row, field: "email", value: email)
            var tuple = PIDFTuple(id: "mail\(index)")
            tuple.contact = PIDFContact(uri: scheme + ":" + email)
            tuples.append(tuple)
        }
        return tuples
    }

    /// Timed statuses for runs of equal slots other than free; at most 64.
    private func timedStatuses(_ freeBusy: CanonicalFreeBusy, at moment: DateTime?, _ trace: inout MappingTrace) -> [TimedStatus] {
        var statuses: [TimedStatus] = []
        let slotNanoseconds = Int64(freeBusy.slotSeconds) * 1_000_000_000
        var index = 0
        func time(_ slot: Int) -> DateTime? {
            let (offset, overflow) = Int64(slot).multipliedReportingOverflow(by: slotNanoseconds)
            guard !overflow else { return nil }
            let (value, overflow2) = freeBusy.start.nanosecondsSince1970.addingReportingOverflow(offset)
            return overflow2 ? nil : DateTime(nanosecondsSince1970: value)
        }
        while index < freeBusy.slots.count {
            let slot = freeBusy.slots[index]
            var end = index + 1
            while end < freeBusy.slots.count, freeBusy.slots[end] == slot { end += 1 }
            defer { index = end }
            guard let row = compiled.freeBusy.first(where: { $0.slot == Int(slot) && !$0.isForReadingOnly }) else { continue }
            if slot == 0 {
                trace.use(row.row)
                continue
            }
            guard let from = time(index), let until = time(end) else { continue }
            if let moment, until <= moment {
                lose("free-busy-fold", from.text, to: "pidf", &trace)
                continue
            }
            guard statuses.count < 64 else {
                lose("free-busy-fold", from.text, to: "pidf", &trace)
                continue
            }
            trace.use(row.row, field: "free-busy", value: from.text)
            var status = TimedStatus(from: from, until: until, basic: row.isOpen.map { $0 ? .open : .closed })
            if let rpid = row.rpid { status.rpid.activities = [RPIDList([RPIDActivity(rpid)])] }
            statuses.append(status)
        }
        return statuses
    }

    // MARK: OMA and lossless extensions

    /// Adds willingness of the service (OMA presence): closed if the class of the availability is unwilling to communicate.
    private func addWillingness(_ presence: CanonicalPresence, isOpen: Bool?, tuple: inout PIDFTuple, _ trace: inout MappingTrace) {
        guard let isOpen else { return }
        var isWilling = isOpen
        if let availability = presence.availability, let known = compiled.classes.find(Int(availability), token: nil) {
            trace.use(known.row)
            isWilling = isWilling && known.isWilling
        }
        let fragment = isWilling ? OMAWillingness.open : OMAWillingness.closed
        if let fragment { tuple.extensions.append(fragment) }
    }

    /// The exact values of a published availability; nil if it was derived or is absent.
    private func exact(_ presence: CanonicalPresence) -> PresenceExact? {
        guard presence.provenance == .published, let availability = presence.availability else { return nil }
        var exact = PresenceExact(availability: availability)
        if let activity = presence.activity {
            exact.activities = [
                PresenceExact.Activity(
                    token: activity.token, minimum: activity.bounds.flatMap { UInt32(exactly: $0.lower) },
                    maximum: activity.bounds?.upper.flatMap { UInt32(exactly: $0) },
                    customs: activity.texts.map { PresenceExact.Custom(lcid: $0.lcid ?? 0, text: $0.text) })
            ]
        }
        if let element = presence.exactState,
            let fragment = CategoriesDocument(uri: presence.entity, categories: [element]).fragment
        {
            exact.extensions = [fragment]
        }
        return exact
    }
}

private enum OMAWillingness {
    static let open = make("open")
    static let closed = make("closed")

    private static func make(_ basic: String) -> XMLFragment? {
        let text = "<op:willingness xmlns:op=\"urn:oma:xml:prs:pidf:oma-pres\"><op:basic>\(basic)</op:basic></op:willingness>"
        return try? XMLFragment(parsing: Array(text.utf8))
    }
}
