import PresenceDocuments
import XMLCore

/// Reads PIDF of all profiles into the canonical model.
struct PIDFReader: MappingPart {
    let compiled: CompiledTables

    func canonical(from said: PIDFDocument, at moment: DateTime? = nil) -> MappingResult<CanonicalPresence> {
        let document = moment.map { said.current(at: $0) } ?? said
        var trace = MappingTrace()
        var presence = CanonicalPresence(entity: document.entity)
        presence.residue = .pidf(document)

        let persons = choosePersons(document.persons, &trace)
        let deciding = chooseTuple(document.tuples, &trace)
        let tuple = deciding.map { document.tuples[$0] }
        presence.basic = tuple?.basic.map { $0 == .open ? .open : .closed }

        // Elements with RPID of the user, the most personal first.
        var sources: [RPID] = []
        for person in persons where !person.rpid.isEmpty { sources.append(person.rpid) }
        if !document.rpid.isEmpty { sources.append(document.rpid) }
        if let tuple, !tuple.rpid.isEmpty { sources.append(tuple.rpid) }

        readActivities(document, persons: persons, tuple: tuple, at: moment, into: &presence, &trace)
        readIdle(document, persons: persons, tuple: tuple, at: moment, into: &presence, &trace)
        readPlace(sources, at: moment, into: &presence, &trace)
        readCard(document, persons: persons, tuple: tuple, into: &presence, &trace)
        readNotes(document, persons: persons, tuple: tuple, sources: sources, into: &presence)
        readServices(document, deciding: deciding, into: &presence, &trace)
        readFreeBusy(said.tuples, into: &presence, &trace)
        readUnmapped(document, persons: persons, deciding: deciding, into: &presence)
        for person in persons { presence.timestamp = later(presence.timestamp, person.timestamp) }
        presence.timestamp = later(presence.timestamp, tuple?.timestamp)
        // Watchers tell a newer state from an older one by its time (MS-PRES 1.3.1.6).
        if let moment, presence.timestamp != nil { presence.timestamp = later(presence.timestamp, said.lastTimedMoment(at: moment)) }
        if let exact = document.exact { read(exact, into: &presence, &trace) }
        return trace.result(presence)
    }

    private func later(_ left: DateTime?, _ right: DateTime?) -> DateTime? {
        guard let left else { return right }
        return right.map { max(left, $0) } ?? left
    }

    // MARK: Selection

    /// Persons with the deciding one first.
    private func choosePersons(_ persons: [PIDFPerson], _ trace: inout MappingTrace) -> [PIDFPerson] {
        guard persons.count > 1 else { return persons }
        let criteria = compiled.combine["person"] ?? []
        for row in criteria { trace.use(row.row, field: "person", value: persons.map(\.id).joined(separator: " ")) }
        return persons.enumerated().sorted { left, right in
            for row in criteria {
                if let wins = row.prefersTime(left.element.timestamp, to: right.element.timestamp) { return wins }
            }
            return left.offset < right.offset
        }.map(\.element)
    }

    /// The index of the tuple that decides the state; nil if there is none. Tuples with an address only (a phone number, a mailbox)
    /// are skipped.
    private func chooseTuple(_ tuples: [PIDFTuple], _ trace: inout MappingTrace) -> Int? {
        guard tuples.count > 1 else { return tuples.indices.first }
        let criteria = compiled.combine["tuple"] ?? []
        var best: Int?
        for index in tuples.indices where tuples[index].basic != nil || !isAddressOnly(tuples[index]) {
            guard let current = best else {
                best = index
                continue
            }
            for row in criteria {
                guard let wins = compare(tuples[index], tuples[current], by: row) else { continue }
                trace.use(row.row)
                if wins { best = index }
                break
            }
        }
        return best
    }

    /// Whether the first tuple wins by one criterion; nil if they are equal.
    private func compare(_ left: PIDFTuple, _ right: PIDFTuple, by row: CombineOutcome) -> Bool? {
        switch row.by {
        case "basic":
            guard left.basic != right.basic else { return nil }
            if left.basic?.name == row.prefer { return true }
            if right.basic?.name == row.prefer { return false }
            return left.basic != nil
        case "priority":
            let one = left.contact?.priority ?? -1
            let other = right.contact?.priority ?? -1
            guard one != other else { return nil }
            return (one > other) == (row.prefer == "greatest")
        case "timestamp": return row.prefersTime(left.timestamp, to: right.timestamp)
        default: return nil
        }
    }

    /// Whether a tuple only holds an address with a scheme of the table `contact`.
    func isAddressOnly(_ tuple: PIDFTuple) -> Bool {
        tuple.contact.map { compiled.contacts.isAddress($0.uri) } ?? false
    }

    // MARK: Activities and availability

    private func readActivities(
        _ document: PIDFDocument, persons: [PIDFPerson], tuple: PIDFTuple?, at moment: DateTime?, into presence: inout CanonicalPresence,
        _ trace: inout MappingTrace
    ) {
        // Activities of the person take precedence over those of a service, and those over a device's.
        var lists = persons.first { !$0.rpid.activities.isEmpty }?.rpid.activities ?? []
        if lists.isEmpty { lists = document.rpid.activities }
        if lists.isEmpty, let tuple { lists = tuple.rpid.activities }
        if lists.isEmpty { lists = document.tuples.first { !$0.rpid.activities.isEmpty }?.rpid.activities ?? [] }
        if lists.isEmpty { lists = document.devices.first { !$0.rpid.activities.isEmpty }?.rpid.activities ?? [] }

        var candidates: [(row: AvailabilityOutcome, activity: CanonicalRPIDActivity)] = []
        for list in lists where moment.map({ list.info.isValid(at: $0) }) ?? true {
            for value in list.values {
                let activity = CanonicalRPIDActivity(value.name, from: list.info.from, until: list.info.until)
                if let row = compiled.activities.availability(of: activity, basic: presence.basic) { candidates.append((row, activity)) }
            }
            for other in list.others {
                let activity = CanonicalRPIDActivity(
                    "other", text: other.text.trimmed, language: other.language, from: list.info.from, until: list.info.until)
                if let row = compiled.activities.availability(of: activity, basic: presence.basic) { candidates.append((row, activity)) }
            }
            for fragment in list.extensions {
                let activity = CanonicalRPIDActivity(fragment.localName, from: list.info.from, until: list.info.until)
                if let row = compiled.activities.availability(of: activity, basic: presence.basic) { candidates.append((row, activity)) }
            }
        }
        presence.activities = candidates.map(\.activity)

        guard var best = candidates.first else {
            guard tuple != nil || !persons.isEmpty || !document.tuples.isEmpty else { return }
            if let row = compiled.activities.availability(of: CanonicalRPIDActivity("none"), basic: presence.basic) {
                trace.use(row.row, field: "basic", value: basicName(presence.basic))
                apply(row, to: &presence, &trace)
            }
            return
        }
        for candidate in candidates.dropFirst() {
            for (index, criterion) in (compiled.combine["activity"] ?? []).enumerated() {
                let (one, other) =
                    criterion.by == "rank"
                    ? (candidate.row.rank, best.row.rank) : (candidate.row.availability, best.row.availability)
                guard one != other else { continue }
                if index > 0 { trace.use(criterion.row) }
                if (one > other) == (criterion.prefer == "greatest") { best = candidate }
                break
            }
        }
        if candidates.count > 1, let row = compiled.combine["activity"]?.first {
            // An activity written for readers that do not know the other one adds no information.
            let also = compiled.alsoActivities[best.activity.name]
            let rest = candidates.map(\.activity).filter { $0 != best.activity && $0.name != also }.map { $0.text ?? $0.name }
            if !rest.isEmpty { trace.use(row.row, field: "activities", value: rest.joined(separator: " ")) }
        }
        let name = best.activity.text ?? best.activity.name
        trace.use(best.row.row, field: "activity", value: name)
        let text = CanonicalText(
            name, language: best.activity.language,
            lcid: best.row.custom == "{text}" ? compiled.languages.lcid(ofLanguage: best.activity.language, &trace) : nil)
        apply(best.row, text: text, to: &presence, &trace)
    }

    private func basicName(_ basic: CanonicalBasic?) -> String {
        switch basic {
        case .open: "open"
        case .closed: "closed"
        case nil: "none"
        }
    }

    /// Reads user-input: the person's takes precedence, then the deciding service's, then the combination of the devices.
    private func readIdle(
        _ document: PIDFDocument, persons: [PIDFPerson], tuple: PIDFTuple?, at moment: DateTime?, into presence: inout CanonicalPresence,
        _ trace: inout MappingTrace
    ) {
        func valid(_ rpid: RPID) -> RPIDUserInput? {
            rpid.userInputs.first { input in moment.map { input.info.isValid(at: $0) } ?? true }
        }
        var input = persons.lazy.compactMap { valid($0.rpid) }.first ?? valid(document.rpid) ?? tuple.flatMap { valid($0.rpid) }
        if input == nil {
            for device in document.devices {
                guard let other = valid(device.rpid) else { continue }
                guard let current = input else {
                    input = other
                    continue
                }
                for row in compiled.combine["device"] ?? [] {
                    guard let wins = compare(other, current, by: row) else { continue }
                    trace.use(row.row)
                    if wins { input = other }
                    break
                }
            }
        }
        guard let input else { return }
        presence.isIdle = input.isIdle
        presence.lastActive = input.lastInput
        guard input.isIdle, let availability = presence.availability,
            let known = compiled.classes.find(Int(availability), token: nil), let adds = known.idleAdds, isIdleAdded(&trace)
        else { return }
        trace.use(known.row)
        presence.availability = UInt32(clamping: Int(availability) + adds)
    }

    /// Whether the first device's input wins by one criterion; nil if they are equal.
    private func compare(_ left: RPIDUserInput, _ right: RPIDUserInput, by row: CombineOutcome) -> Bool? {
        switch row.by {
        case "input":
            guard left.isIdle != right.isIdle else { return nil }
            return left.isIdle == (row.prefer == "idle")
        case "last-input": return row.prefersTime(left.lastInput, to: right.lastInput)
        default: return nil
        }
    }

    // MARK: Place and time zone

    private func readPlace(_ sources: [RPID], at moment: DateTime?, into presence: inout CanonicalPresence, _ trace: inout MappingTrace) {
        func isValid(_ info: RPIDInfo) -> Bool { moment.map { info.isValid(at: $0) } ?? true }
        let isMeeting = presence.activity?.token != nil || presence.meeting != nil
        for rpid in sources {
            for list in rpid.placeTypes where presence.location == nil && isValid(list.info) {
                if let place = list.values.first {
                    if let row = compiled.places.locationOfPlace[place.name] {
                        trace.use(row.row, field: "place", value: place.name)
                        presence.location = row.word
                    } else {
                        presence.location = place.name
                    }
                } else if let other = list.others.first?.text.trimmed, !other.isEmpty {
                    presence.location = other
                } else if let place = list.extensions.first?.localName {
                    presence.location = compiled.places.locationOfPlace[place]?.word ?? place
                }
                if let note = list.info.notes.first, isMeeting {
                    presence.meeting = presence.meeting ?? CanonicalMeeting()
                    presence.meeting?.location = CanonicalText(
                        note.text.trimmed, language: note.language, lcid: compiled.languages.lcid(ofLanguage: note.language, &trace))
                }
            }
            if presence.timeZone == nil, let offset = rpid.timeOffsets.first(where: { isValid($0.info) }),
                (-840...840).contains(offset.minutes)
            {
                presence.timeZone = timeZone(offset, &trace)
            }
        }
        for rpid in sources {
            for list in rpid.spheres where isValid(list.info) {
                guard let sphere = list.values.first else { continue }
                if presence.location == nil, let row = compiled.places.locationOfSphere[sphere.name] {
                    trace.use(row.row, field: "sphere", value: sphere.name)
                    presence.location = row.word
                } else {
                    presence.unmapped.append(UnmappedField("sphere", sphere.name))
                }
            }
        }
    }

    private func timeZone(_ offset: RPIDTimeOffset, _ trace: inout MappingTrace) -> CanonicalTimeZone {
        let bias = -offset.minutes
        var zone = CanonicalTimeZone(bias: bias, name: offset.description?.trimmed)
        let row = zone.name.flatMap { compiled.zones.byName[$0] } ?? compiled.zones.byBias[bias]
        if let row {
            trace.use(row.row)
            if zone.name == nil { zone.name = row.name }
            if zone.name == row.name { zone.abbreviation = row.abbreviation }
        } else if let unknown = compiled.zones.unknown {
            trace.use(unknown, field: "time-zone-name", value: String(offset.minutes))
        }
        return zone
    }

    // MARK: Exact values

    /// Takes over exact values if they agree with the PIDF elements: an intermediary may have changed one of the two only.
    private func read(_ exact: PresenceExact, into presence: inout CanonicalPresence, _ trace: inout MappingTrace) {
        guard let availability = exact.availability else { return }
        let activity = exact.activities.first
        let token = activity?.token
        let row = compiled.toPIDF.find(Int(availability), token: token)
        let agrees = row.map { row in
            (presence.basic == nil || row.isOpen == (presence.basic == .open))
                && (row.rpid.map { name in presence.activities.contains { $0.name == name } } ?? true)
        }
        guard let row, agrees == true else {
            presence.unmapped.append(UnmappedField("contradicted-exact", String(availability)))
            return
        }
        trace.use(row.row)
        presence.availability = availability
        presence.provenance = .published
        presence.activity = activity.map { activity in
            CanonicalActivity(
                token: activity.token,
                texts: activity.customs.map { custom in
                    CanonicalText(custom.text, language: compiled.languages.language(ofLCID: custom.lcid, &trace), lcid: custom.lcid)
                },
                bounds: activity.minimum == nil && activity.maximum == nil
                    ? nil : NumberRange(Int(activity.minimum ?? 0), activity.maximum.map(Int.init)))
        }
        readExactState(exact, into: &presence, &trace)
    }

    /// Restores the state that ``PIDFWriter`` stores as a whole.
    private func readExactState(_ exact: PresenceExact, into presence: inout CanonicalPresence, _ trace: inout MappingTrace) {
        for fragment in exact.extensions where fragment.is(CategoriesDocument.rootName) {
            guard let document = try? CategoriesDocument(parsing: fragment) else { continue }
            let read = CategoriesReader(compiled: compiled).canonical(from: document).value
            guard read.availability == exact.availability, let state = read.exactState else { continue }
            presence.exactState = state
            presence.activity = read.activity
            presence.location = read.location
            presence.meeting = read.meeting
            presence.timeZone = read.timeZone
            presence.device = read.device
            presence.lastActive = read.lastActive
            presence.timestamp = read.timestamp
        }
    }
}
