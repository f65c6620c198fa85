import PresenceDocuments

/// Writes the canonical model as categories.
struct CategoriesWriter: MappingPart {
    let compiled: CompiledTables

    func categories(
        from presence: CanonicalPresence, requested: [CategoryName]? = nil, at moment: DateTime? = nil
    ) -> MappingResult<CategoriesDocument> {
        var trace = MappingTrace()
        if case .categories(let source) = presence.residue {
            guard let requested else { return trace.result(source) }
            var document = CategoriesDocument(uri: source.uri, attributes: source.attributes)
            for name in requested {
                let instances = source.categories.filter { $0.name == name }
                document.categories += instances.isEmpty ? [CategoryElement(name: name)] : instances
            }
            return trace.result(document)
        }

        let time = presence.timestamp ?? moment
        // In the order of the document.
        var made: [CategoryElement] = []
        made.reserveCapacity(5)
        func add(_ name: CategoryName, instance: UInt32 = 0, _ body: CategoryBody?) {
            if let body { made.append(CategoryElement(name: name, instance: instance, publishTime: time, body: body)) }
        }
        add(.calendarData, calendarData(presence))
        add(.contactCard, contactCard(presence, &trace))
        add(.note, note(presence, &trace))
        add(.services, services(presence, &trace))
        if let exact = presence.exactState, presence.provenance == .published {
            made.append(exact)
        } else if let availability = presence.availability {
            // Instance 1 while a machine exists, 0 for an offline user (MS-PRES 3.8.5.1.2.7).
            add(.state, instance: availability < offlineFloor ? 1 : 0, state(presence, availability, &trace))
        }
        loseUnmapped(presence, to: "categories", &trace)
        for activity in presence.activities where activity.from != nil || activity.until != nil {
            lose("activity-interval", activity.text ?? activity.name, to: "categories", &trace)
        }

        var document = CategoriesDocument(uri: presence.entity)
        if let requested {
            for name in requested { document.categories.append(made.first { $0.name == name } ?? CategoryElement(name: name)) }
        } else {
            document.categories = made
        }
        return trace.result(document)
    }

    // MARK: state

    /// An aggregateState as a home server sends it to watchers. Bounds from our tables are omitted, because an aggregate has none
    /// (MS-PRES 3.8.5.1.2.3).
    private func state(_ presence: CanonicalPresence, _ availability: UInt32, _ trace: inout MappingTrace) -> CategoryBody {
        var state = StateDocument(type: .aggregateState, availability: availability)
        if let known = compiled.classes.find(Int(availability), token: nil) {
            trace.use(known.row)
            if known.showsLastActive { state.lastActive = presence.lastActive }
        }
        if let activity = stateActivity(presence, &trace) { state.activities = [activity] }
        state.endpointLocation = presence.location
        if let subject = presence.meeting?.subject { state.meetingSubject = localized(subject, &trace) }
        if let location = presence.meeting?.location { state.meetingLocation = localized(location, &trace) }
        if let zone = presence.timeZone {
            state.timeZoneBias = zone.bias.map(Int64.init)
            state.timeZoneName = zone.name
            state.timeZoneAbbreviation = zone.abbreviation
        }
        state.device = presence.device.map { DeviceType(rawValue: $0) }
        return .state(state)
    }

    func stateActivity(_ presence: CanonicalPresence, _ trace: inout MappingTrace) -> StateActivity? {
        guard let activity = presence.activity else { return nil }
        if let token = activity.token, let row = compiled.tokens.first(where: { $0.token == token }) { trace.use(row.row) }
        var result = StateActivity(token: activity.token.map { ActivityToken(rawValue: $0) })
        result.custom = activity.texts.map { localized($0, &trace) }
        if presence.provenance == .published, let bounds = activity.bounds {
            result.minimumAvailability = .value(UInt32(clamping: bounds.lower))
            result.maximumAvailability = bounds.upper.map { .value(UInt32(clamping: $0)) } ?? .unbounded
        }
        return result
    }

    private func localized(_ text: CanonicalText, _ trace: inout MappingTrace) -> LocalizedText {
        LocalizedText(text.text, lcid: text.lcid ?? compiled.languages.lcid(ofLanguage: text.language, &trace))
    }

    // MARK: note, contactCard, services, calendarData

    private func note(_ presence: CanonicalPresence, _ trace: inout MappingTrace) -> CategoryBody? {
        guard !presence.notes.isEmpty else { return nil }
        var bodies: [NoteBody] = []
        for note in presence.notes {
            let type: NoteType = note.kind == .outOfOffice ? .outOfOffice : .personal
            // Clients show one note of each type.
            guard !bodies.contains(where: { $0.type == type }) else {
                lose("further-note", note.text, to: "categories", &trace)
                continue
            }
            if let language = note.language { lose("note-language", language, to: "categories", &trace) }
            bodies.append(NoteBody(note.text, type: type, uri: "", startTime: note.start, endTime: note.end))
        }
        return .note(NoteDocument(bodies: bodies))
    }

    private func contactCard(_ presence: CanonicalPresence, _ trace: inout MappingTrace) -> CategoryBody? {
        var card = ContactCardDocument()
        if !presence.displayNames.isEmpty || !presence.emails.isEmpty {
            card.identities = [
                ContactIdentity(
                    displayNames: presence.displayNames.map { localized($0, &trace) }, emails: presence.emails.map { ContactURI($0) })
            ]
        }
        card.phones = presence.phones.map { phone in
            ContactPhone(
                type: ContactDetailType(rawValue: phone.type), uri: ContactURI(phone.uri),
                displayStrings: phone.display.map { [LocalizedText($0)] } ?? [])
        }
        card.webAddresses = presence.links.map { ContactWebAddress($0.uri, type: ContactDetailType(rawValue: $0.type)) }
        if let icon = presence.icon {
            let type = compiled.contacts.rows.first { $0.element == "icon" }?.type ?? ContactDetailType.default.rawValue
            card.photos = [ContactPhoto(type: ContactDetailType(rawValue: type), uri: ContactURI(icon))]
        }
        card.titles = presence.titles.map { localized($0, &trace) }
        card.companies = presence.companies.map { localized($0, &trace) }
        card.departments = presence.departments.map { localized($0, &trace) }
        card.offices = presence.offices.map { localized($0, &trace) }
        let isEmpty =
            card.identities.isEmpty && card.phones.isEmpty && card.webAddresses.isEmpty && card.photos.isEmpty && card.titles.isEmpty
            && card.companies.isEmpty && card.departments.isEmpty && card.offices.isEmpty
        return isEmpty ? nil : .contactCard(card)
    }

    /// One service at the presentity's address, so that clients offer a conversation; none while it is offline.
    private func services(_ presence: CanonicalPresence, _ trace: inout MappingTrace) -> CategoryBody? {
        guard let availability = presence.availability else { return nil }
        // An exact state comes from an enterprise presentity: if it has no services, none are added.
        if presence.exactState != nil, presence.capabilities == nil { return nil }
        var document = ServicesDocument()
        guard let known = compiled.classes.find(Int(availability), token: nil), availability < offlineFloor,
            presence.basic != .closed || presence.provenance == .published
        else { return .services(document) }
        var said = presence.capabilities ?? []
        if said.isEmpty, let standard = compiled.capabilities.standard {
            trace.use(standard.row)
            said = [CanonicalCapability(standard.name, render: true, capture: true)]
        }
        var list = CapabilityList(uri: presence.serviceURI ?? presence.entity)
        for capability in said {
            list.capabilities.append(
                Capability(
                    CapabilityName(rawValue: capability.name), render: capability.render, capture: capability.capture,
                    deviceAvailability: UInt32(clamping: known.publish)))
        }
        document.services = [ServiceElement(uri: presence.serviceURI ?? presence.entity, capabilities: list)]
        return .services(document)
    }

    private func calendarData(_ presence: CanonicalPresence) -> CategoryBody? {
        guard let freeBusy = presence.freeBusy else { return nil }
        let content = FreeBusy(
            startTime: freeBusy.start, granularity: FreeBusyBits.duration(ofSeconds: freeBusy.slotSeconds),
            slots: FreeBusyBits.encode(freeBusy.slots))
        return .calendarData(
            CalendarDataDocument(
                mailboxID: freeBusy.mailbox ?? presence.emails.first ?? presence.entity.withoutScheme, content: .freeBusy(content)))
    }
}
