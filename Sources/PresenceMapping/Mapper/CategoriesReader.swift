import PresenceDocuments

/// Reads categories and legacyInterop into the canonical model.
struct CategoriesReader: MappingPart {
    let compiled: CompiledTables

    func canonical(from document: CategoriesDocument, at moment: DateTime? = nil) -> MappingResult<CanonicalPresence> {
        var trace = MappingTrace()
        var presence = CanonicalPresence(entity: document.uri)
        presence.residue = .categories(document)
        var states: [(element: CategoryElement, state: StateDocument)] = []
        var cards: [(instance: UInt32, card: ContactCardDocument)] = []
        for element in document.categories {
            if let container = element.container, let row = compiled.containers[Int(container.rawValue)] { trace.use(row.row) }
            switch element.body {
            case .state(let state) where element.name == .state: states.append((element, state))
            case .note(let note): read(note, at: moment, into: &presence)
            case .contactCard(let card): cards.append((element.instance ?? 0, card))
            case .services(let services): read(services, into: &presence, &trace)
            case .calendarData(let calendar) where element.name == .calendarData:
                read(calendar, instance: element.instance ?? 0, into: &presence, &trace)
            case .legacyInterop(let legacy):
                read(legacy, into: &presence)
            default:
                if !element.isEmptyMarker { presence.unmapped.append(UnmappedField("other-category", element.name.rawValue)) }
            }
        }
        if let chosen = chooseState(states, &trace) {
            read(chosen.state, element: chosen.element, into: &presence, &trace)
            addIdle(of: states, to: chosen.state, &presence, &trace)
        }
        // Cards with greater instance numbers add to the ones before; the card from the directory has number 0 (MS-PRES 3.2.6.2).
        for (_, card) in cards.sorted(by: { $0.instance < $1.instance }) { read(card, into: &presence, &trace) }
        if presence.availability == nil, let legacy = presence.legacy {
            presence.availability = legacy.availability
            presence.provenance = .published
            if let token = legacy.token { presence.activity = CanonicalActivity(token: token) }
        }
        return trace.result(presence)
    }

    func canonical(from document: LegacyInteropDocument, entity: String) -> MappingResult<CanonicalPresence> {
        var presence = CanonicalPresence(entity: entity)
        presence.residue = .legacyInterop(document)
        read(document, into: &presence)
        if let legacy = presence.legacy {
            presence.availability = legacy.availability
            presence.provenance = .published
            if let token = legacy.token { presence.activity = CanonicalActivity(token: token) }
        }
        return MappingTrace().result(presence)
    }

    private func read(_ legacy: LegacyInteropDocument, into presence: inout CanonicalPresence) {
        guard let availability = legacy.availability else { return }
        presence.legacy = CanonicalLegacyState(availability: availability, token: legacy.token?.rawValue, dndState: legacy.dndState)
        if legacy.dndState == true { presence.unmapped.append(UnmappedField("dnd-state", "true")) }
    }

    // MARK: state

    private func chooseState(_ states: [(element: CategoryElement, state: StateDocument)], _ trace: inout MappingTrace)
        -> (element: CategoryElement, state: StateDocument)?
    {
        guard states.count > 1 else { return states.first }
        func age(_ entry: (element: CategoryElement, state: StateDocument)) -> DateTime? {
            entry.state.startTime ?? entry.element.publishTime
        }
        func isNewer(_ left: DateTime?, _ right: DateTime?) -> Bool {
            guard let left else { return false }
            return right.map { left > $0 } ?? true
        }
        var aggregate: (element: CategoryElement, state: StateDocument)?
        for entry in states where entry.state.type == .aggregateState && entry.state.availability != nil {
            if aggregate == nil || isNewer(entry.element.publishTime, aggregate?.element.publishTime) { aggregate = entry }
        }
        if let aggregate { return aggregate }

        var pool = states.filter { $0.state.availability != nil && $0.state.type != .machineState }
        if pool.isEmpty { pool = states.filter { $0.state.availability != nil } }
        for row in compiled.combine["state"] ?? [] {
            trace.use(row.row)
            switch row.by {
            case "manual":
                var manual: DateTime?
                for entry in pool where entry.state.manual == true {
                    if isNewer(age(entry), manual) { manual = age(entry) }
                }
                guard let manual else { continue }
                pool.removeAll { entry in
                    guard entry.state.type != .aggregateMachineState, let age = age(entry) else { return false }
                    return age < manual
                }
            case "availability":
                let numbers = pool.map { $0.state.availability ?? 0 }
                let chosen = row.prefer == "greatest" ? numbers.max() : numbers.min()
                pool.removeAll { ($0.state.availability ?? 0) != chosen }
            default: continue
            }
        }
        // The newest of the instances that no row distinguishes.
        var best = pool.first
        for entry in pool.dropFirst() where isNewer(age(entry), best.flatMap(age)) { best = entry }
        return best ?? states.first
    }

    /// Adds the idle amount of the class if the machine is idle and the user busy (MS-PRES 3.8.5.1.2.2); aggregates already include
    /// it.
    private func addIdle(
        of states: [(element: CategoryElement, state: StateDocument)], to chosen: StateDocument, _ presence: inout CanonicalPresence,
        _ trace: inout MappingTrace
    ) {
        guard chosen.type != .aggregateState, chosen.type != .aggregateMachineState, let availability = chosen.availability,
            let machine = states.first(where: { $0.state.type == .aggregateMachineState })?.state.availability,
            let machineClass = compiled.classes.find(Int(machine), token: nil), machineClass.isIdle, machineClass.idleAdds == nil,
            let known = compiled.classes.find(Int(availability), token: nil), let adds = known.idleAdds, isIdleAdded(&trace)
        else { return }
        trace.use(known.row)
        var busyIdle = chosen
        busyIdle.availability = UInt32(clamping: Int(availability) + adds)
        if let element = presence.exactState { read(busyIdle, element: element, into: &presence, &trace) }
        presence.exactState = nil
    }

    private func read(
        _ state: StateDocument, element: CategoryElement, into presence: inout CanonicalPresence, _ trace: inout MappingTrace
    ) {
        presence.exactState = element
        presence.availability = state.availability
        presence.provenance = state.availability == nil ? .absent : .published
        // Drops the original text: these forms lack the zone letter that RFC 3339 requires.
        presence.timestamp = (state.startTime ?? element.publishTime).map { DateTime(nanosecondsSince1970: $0.nanosecondsSince1970) }
        presence.lastActive = state.lastActive.map { DateTime(nanosecondsSince1970: $0.nanosecondsSince1970) }
        if let availability = state.availability {
            presence.isIdle = compiled.classes.find(Int(availability), token: nil)?.isIdle
        }
        let said = state.activities.filter { $0.token != nil || !$0.custom.isEmpty }
        if let activity = said.first(where: { $0.isValid(at: state.availability ?? 0) }) ?? said.first {
            var bounds: NumberRange?
            if activity.minimumAvailability != nil || activity.maximumAvailability != nil {
                var lower = 0
                if case .value(let number)? = activity.minimumAvailability { lower = Int(number) }
                if case .unbounded? = activity.minimumAvailability { lower = Int(UInt32.max) }
                var upper: Int?
                if case .value(let number)? = activity.maximumAvailability { upper = Int(number) }
                bounds = NumberRange(lower, upper)
            }
            var texts: [CanonicalText] = []
            for text in activity.custom {
                texts.append(CanonicalText(text.text, language: compiled.languages.language(ofLCID: text.lcid, &trace), lcid: text.lcid))
            }
            presence.activity = CanonicalActivity(token: activity.token?.rawValue, texts: texts, bounds: bounds)
        }
        if let location = state.endpointLocation?.trimmed, !location.isEmpty { presence.location = location }
        if state.meetingSubject != nil || state.meetingLocation != nil {
            let meeting = CanonicalMeeting(
                subject: text(state.meetingSubject, &trace), location: text(state.meetingLocation, &trace))
            if meeting.subject != nil || meeting.location != nil { presence.meeting = meeting }
        }
        if state.timeZoneBias != nil || state.timeZoneName != nil || state.timeZoneAbbreviation != nil {
            presence.timeZone = timeZone(
                bias: state.timeZoneBias, name: state.timeZoneName?.trimmed, abbreviation: state.timeZoneAbbreviation?.trimmed, &trace)
        }
        presence.device = state.device?.rawValue
    }

    private func text(_ text: LocalizedText?, _ trace: inout MappingTrace) -> CanonicalText? {
        guard let text, !text.text.trimmed.isEmpty else { return nil }
        return CanonicalText(text.text.trimmed, language: compiled.languages.language(ofLCID: text.lcid, &trace), lcid: text.lcid)
    }

    /// Ignores a bias outside -840 to 840 minutes and uses the bias of the named zone instead; a sample of the standard has 999.
    private func timeZone(bias: Int64?, name: String?, abbreviation: String?, _ trace: inout MappingTrace) -> CanonicalTimeZone {
        var zone = CanonicalTimeZone(bias: nil, name: name, abbreviation: abbreviation)
        let named = name.flatMap { compiled.zones.byName[$0] }
        if let bias, (-840...840).contains(bias) {
            zone.bias = Int(bias)
        } else if let named {
            zone.bias = named.bias
        }
        if let named { trace.use(named.row) }
        return zone
    }

    // MARK: note, contactCard, services, calendarData

    private func read(_ note: NoteDocument, at moment: DateTime?, into presence: inout CanonicalPresence) {
        for body in note.bodies where moment.map({ body.isShown(at: $0) }) ?? true {
            let text = body.text.trimmed
            guard !text.isEmpty else { continue }
            let kind: CanonicalNote.Kind = body.type == .outOfOffice ? .outOfOffice : .personal
            let entry = CanonicalNote(text, kind: kind, start: body.startTime, end: body.endTime)
            if !presence.notes.contains(entry) { presence.notes.append(entry) }
        }
    }

    private func read(_ card: ContactCardDocument, into presence: inout CanonicalPresence, _ trace: inout MappingTrace) {
        func add(_ texts: [LocalizedText], _ list: inout [CanonicalText]) {
            for text in texts {
                guard let value = self.text(text, &trace), !list.contains(value) else { continue }
                list.append(value)
            }
        }
        for identity in card.identities {
            add(identity.displayNames, &presence.displayNames)
            for email in identity.emails where !email.uri.trimmed.isEmpty && !presence.emails.contains(email.uri.trimmed) {
                presence.emails.append(email.uri.trimmed)
            }
        }
        for phone in card.phones {
            guard let uri = phone.uri?.uri.trimmed, !uri.isEmpty else { continue }
            let entry = CanonicalPhone(
                type: phone.type?.rawValue ?? "other", uri: uri, display: phone.displayStrings.first?.text.trimmed)
            if !presence.phones.contains(entry) { presence.phones.append(entry) }
        }
        for address in card.webAddresses where !address.uri.trimmed.isEmpty {
            let link = CanonicalLink(type: address.type?.rawValue ?? "other", uri: address.uri.trimmed)
            if !presence.links.contains(link) { presence.links.append(link) }
        }
        if presence.icon == nil {
            presence.icon = card.photos.lazy.compactMap { $0.uri?.uri.trimmed }.first { !$0.isEmpty }
        }
        add(card.titles, &presence.titles)
        add(card.companies, &presence.companies)
        add(card.departments, &presence.departments)
        add(card.offices, &presence.offices)
        for address in card.addresses {
            let parts = [address.streets, address.cities, address.states, address.zipcodes].flatMap { $0.map(\.text.trimmed) }
            let line = (parts + [address.countryCode?.trimmed ?? ""]).filter { !$0.isEmpty }.joined(separator: ", ")
            if !line.isEmpty { presence.unmapped.append(UnmappedField("address", line)) }
        }
    }

    private func read(_ services: ServicesDocument, into presence: inout CanonicalPresence, _ trace: inout MappingTrace) {
        var capabilities = presence.capabilities ?? []
        for service in services.services {
            if presence.serviceURI == nil { presence.serviceURI = service.uri }
            for capability in service.capabilities?.capabilities ?? [] where capability.publish != true {
                let entry = CanonicalCapability(
                    capability.name.rawValue, render: capability.render ?? false, capture: capability.capture ?? false)
                if let index = capabilities.firstIndex(where: { $0.name == entry.name }) {
                    capabilities[index].render = capabilities[index].render || entry.render
                    capabilities[index].capture = capabilities[index].capture || entry.capture
                } else {
                    capabilities.append(entry)
                }
            }
        }
        presence.capabilities = capabilities
    }

    private func read(
        _ calendar: CalendarDataDocument, instance: UInt32, into presence: inout CanonicalPresence, _ trace: inout MappingTrace
    ) {
        switch calendar.content {
        case .freeBusy(let freeBusy):
            guard !freeBusy.slots.isEmpty, let seconds = FreeBusyBits.seconds(ofDuration: freeBusy.granularity.trimmed) else { return }
            // The two highest bits of the instance number select the encoding, if the stream agrees (MS-PRES 2.2.2.7.8).
            let isNew = instance >> 30 == 1
            let slots = (isNew ? FreeBusyBits.decodeNew(freeBusy.slots) : nil) ?? FreeBusyBits.decode(freeBusy.slots)
            presence.freeBusy = CanonicalFreeBusy(
                start: freeBusy.startTime, slotSeconds: seconds, slots: slots, mailbox: calendar.mailboxID)
        case .workingHours:
            presence.unmapped.append(UnmappedField("working-hours", calendar.mailboxID ?? ""))
        case nil: break
        }
    }
}

extension String {
    /// The text without leading and trailing blanks and line ends.
    var trimmed: String {
        guard let first = utf8.first, let last = utf8.last else { return self }
        if first > 0x20 && last > 0x20 { return self }
        var text = Substring(self)
        while let byte = text.utf8.first, byte <= 0x20 { text.unicodeScalars.removeFirst() }
        while let byte = text.utf8.last, byte <= 0x20 { text.unicodeScalars.removeLast() }
        return String(text)
    }
}
