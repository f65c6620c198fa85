import PresenceDocuments
import XMLCore

extension PIDFReader {
    // MARK: Card and notes

    func readCard(
        _ document: PIDFDocument, persons: [PIDFPerson], tuple: PIDFTuple?, into presence: inout CanonicalPresence,
        _ trace: inout MappingTrace
    ) {
        var homepages: [String] = []
        func read(_ cipid: CIPID) {
            if cipid.isEmpty { return }
            if presence.displayNames.isEmpty, let name = cipid.displayName?.trimmed, !name.isEmpty {
                presence.displayNames = [CanonicalText(name)]
            }
            if let homepage = cipid.homepage?.trimmed, !homepage.isEmpty { homepages.append(homepage) }
            if presence.icon == nil, let icon = cipid.icon?.trimmed, !icon.isEmpty {
                presence.icon = icon
                if let row = compiled.contacts.rows.first(where: { $0.element == "icon" }) { trace.use(row.row) }
            }
            if let card = cipid.card { presence.unmapped.append(UnmappedField("card", "card \(card)")) }
            if let map = cipid.map { presence.unmapped.append(UnmappedField("card", "map \(map)")) }
            if let sound = cipid.sound { presence.unmapped.append(UnmappedField("card", "sound \(sound)")) }
        }
        for index in persons.indices { read(persons[index].cipid) }
        read(document.cipid)
        if let tuple { read(tuple.cipid) }
        for homepage in homepages {
            guard let row = compiled.contacts.rows.first(where: { $0.element == "homepage" }) else { continue }
            trace.use(row.row)
            let entry = CanonicalLink(type: row.type, uri: homepage)
            if !presence.links.contains(entry) { presence.links.append(entry) }
        }
        for index in document.tuples.indices {
            guard let uri = document.tuples[index].contact?.uri, isAddressOnly(document.tuples[index]) else { continue }
            let scheme = uri.utf8.firstIndex(of: UInt8(ascii: ":")).map { uri[..<$0].lowercased() } ?? uri.lowercased()
            let label = document.tuples[index].rpid.classes.first?.text
            let relationship = document.tuples[index].rpid.relationships.first?.values.first?.name
            let rows = compiled.contacts.rows
            let chosen =
                rows.firstIndex { $0.scheme == scheme && $0.relationship != nil && $0.relationship == relationship }
                ?? rows.firstIndex { $0.scheme == scheme && $0.label != nil && $0.label == label }
                ?? rows.firstIndex { $0.scheme == scheme && $0.label == nil && $0.relationship == nil }
            guard let chosen else { continue }
            let row = rows[chosen]
            trace.use(row.row, field: row.kind, value: uri)
            switch row.kind {
            case "phone":
                let phone = CanonicalPhone(type: row.type, uri: uri)
                if !presence.phones.contains(phone) { presence.phones.append(phone) }
            case "email":
                let address = String(uri.dropFirst(scheme.count + 1).prefix { $0 != "?" })
                if !presence.emails.contains(address) { presence.emails.append(address) }
            default: break
            }
        }
    }

    /// Reads notes in the order person, document, service; equal texts are kept once.
    func readNotes(
        _ document: PIDFDocument, persons: [PIDFPerson], tuple: PIDFTuple?, sources: [RPID], into presence: inout CanonicalPresence
    ) {
        var known = Set(presence.notes.map { PIDFNote($0.text, language: $0.language) })
        func add(_ notes: [PIDFNote]) {
            for note in notes {
                let text = note.text.trimmed
                guard !text.isEmpty, known.insert(PIDFNote(text, language: note.language)).inserted else { continue }
                presence.notes.append(CanonicalNote(text, language: note.language))
            }
        }
        for person in persons { add(person.notes) }
        add(document.notes)
        if let tuple { add(tuple.notes) }
        let isMeeting = presence.activity?.token != nil
        for rpid in sources {
            for list in rpid.activities {
                guard let note = list.info.notes.first else { continue }
                if isMeeting, presence.meeting?.subject == nil {
                    presence.meeting = presence.meeting ?? CanonicalMeeting()
                    presence.meeting?.subject = CanonicalText(note.text.trimmed, language: note.language)
                    add(Array(list.info.notes.dropFirst()))
                } else {
                    add(list.info.notes)
                }
            }
        }
    }

    // MARK: Services, devices, timed statuses

    func readServices(_ document: PIDFDocument, deciding: Int?, into presence: inout CanonicalPresence, _ trace: inout MappingTrace) {
        if let deciding {
            let uri = document.tuples[deciding].contact?.uri.trimmed
            if let uri, !uri.isEmpty, !isAddressOnly(document.tuples[deciding]) { presence.serviceURI = uri }
        }
        for index in document.tuples.indices {
            guard let said = document.tuples[index].capabilities else { continue }
            var capabilities = presence.capabilities ?? []
            for (name, value) in ServiceCapabilities.booleans {
                guard let isSupported = said[keyPath: value] else { continue }
                guard let row = compiled.capabilities.names[name], let word = row.word else {
                    if isSupported { presence.unmapped.append(UnmappedField("further-capability", name)) }
                    continue
                }
                trace.use(row.row)
                if let index = capabilities.firstIndex(where: { $0.name == word }) {
                    capabilities[index].render = capabilities[index].render || isSupported
                    capabilities[index].capture = capabilities[index].capture || isSupported
                } else {
                    capabilities.append(CanonicalCapability(word, render: isSupported, capture: isSupported))
                }
            }
            presence.capabilities = capabilities
        }
        if document.devices.contains(where: { $0.capabilities?.mobility?.supported.contains("mobile") ?? false }) {
            presence.device = DeviceType.mobile.rawValue
        }
    }

    /// All timed statuses, also the one that is the status now: a calendar does not change as its times come.
    func readFreeBusy(_ tuples: [PIDFTuple], into presence: inout CanonicalPresence, _ trace: inout MappingTrace) {
        var timed: [TimedStatus] = []
        for index in tuples.indices { timed += tuples[index].timedStatuses }
        if !timed.isEmpty { presence.freeBusy = freeBusy(timed, &trace) }
    }

    /// Slots of 15 minutes from the first to the last time of the statuses, at most 384 (four days).
    private func freeBusy(_ statuses: [TimedStatus], _ trace: inout MappingTrace) -> CanonicalFreeBusy? {
        let slotSeconds = 900
        let slotNanoseconds = Int64(slotSeconds) * 1_000_000_000
        guard let first = statuses.map(\.from).min() else { return nil }
        let start = first.nanosecondsSince1970 - positiveRemainder(first.nanosecondsSince1970, slotNanoseconds)
        var slots: [UInt8] = []
        for status in statuses {
            let activity = status.rpid.activities.lazy.compactMap { $0.values.first?.name }.first
            let isOpen = status.basic.map { $0 == .open }
            let row = compiled.freeBusy.first { row in
                (row.rpid == nil || row.rpid == activity) && (row.isOpen == nil || row.isOpen == isOpen)
                    && (row.isForReadingOnly || row.rpid != nil || row.isOpen != nil)
            }
            guard let row else { continue }
            trace.use(row.row, field: "timed-status", value: status.from.text)
            let until = status.until?.nanosecondsSince1970 ?? status.from.nanosecondsSince1970
            let (offset, overflow) = status.from.nanosecondsSince1970.subtractingReportingOverflow(start)
            let (length, overflowAtEnd) = until.subtractingReportingOverflow(start)
            guard !overflow, length > 0 || overflowAtEnd else { continue }
            let lower = offset / slotNanoseconds
            let end = overflowAtEnd ? Int64(FreeBusyBits.newSlots) : length / slotNanoseconds + (length % slotNanoseconds == 0 ? 0 : 1)
            let upper = min(Int64(FreeBusyBits.newSlots), end)
            guard lower < upper else { continue }
            while slots.count < Int(upper) { slots.append(0) }
            for index in Int(lower)..<Int(upper) { slots[index] = max(slots[index], UInt8(clamping: row.slot)) }
        }
        guard !slots.isEmpty else { return nil }
        return CanonicalFreeBusy(start: DateTime(nanosecondsSince1970: start), slotSeconds: slotSeconds, slots: slots)
    }

    func positiveRemainder(_ value: Int64, _ divisor: Int64) -> Int64 {
        let remainder = value % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }

    // MARK: Fields that only PIDF can express

    func readUnmapped(_ document: PIDFDocument, persons: [PIDFPerson], deciding: Int?, into presence: inout CanonicalPresence) {
        func lose(_ field: String, _ value: String) { presence.unmapped.append(UnmappedField(field, value)) }
        func lose(_ rpid: RPID) {
            for list in rpid.moods { lose("mood", (list.values.map(\.name) + list.others.map(\.text)).joined(separator: " ")) }
            for place in rpid.placeIs {
                lose("place-is", [place.audio, place.video, place.text].compactMap { $0 }.joined(separator: " "))
            }
            for privacy in rpid.privacies {
                let media = [("audio", privacy.audio), ("text", privacy.text), ("video", privacy.video)].filter(\.1).map(\.0)
                lose("privacy", media.joined(separator: " "))
            }
            for list in rpid.relationships { lose("relationship", list.values.first?.name ?? "other") }
            for list in rpid.serviceClasses { lose("service-class", list.values.first?.name ?? "other") }
            for icon in rpid.statusIcons { lose("status-icon", icon.text) }
        }
        for index in persons.indices {
            if !persons[index].rpid.isEmpty {
                lose(persons[index].rpid)
                for label in persons[index].rpid.classes { lose("class", label.text) }
            }
            for fragment in persons[index].extensions { lose("extension", fragment.localName) }
        }
        if !document.rpid.isEmpty { lose(document.rpid) }
        for index in document.tuples.indices where !isAddressOnly(document.tuples[index]) {
            let rpid = document.tuples[index].rpid
            if !rpid.isEmpty {
                lose(rpid)
                for label in rpid.classes { lose("class", label.text) }
            }
            if index != deciding { lose("further-service", document.tuples[index].contact?.uri ?? document.tuples[index].id) }
            for fragment in document.tuples[index].extensions { lose("extension", fragment.localName) }
            for fragment in document.tuples[index].statusExtensions where !fragment.is(LinphoneOnline.name) {
                lose("extension", fragment.localName)
            }
        }
        for id in document.notUnderstood { lose("further-service", id) }
        for device in document.devices { lose("devices", device.deviceID) }
        if let linked = document.linkedIdentities { lose("linked-identities", linked.secondary.joined(separator: " ")) }
        for fragment in document.extensions { lose("extension", fragment.localName) }
    }
}

extension ServiceCapabilities {
    /// The boolean elements by name (RFC 5196 3.2).
    static let booleans: [(name: String, value: any WritableKeyPath<ServiceCapabilities, Bool?> & Sendable)] = [
        ("application", \.application), ("audio", \.audio), ("automata", \.automata), ("control", \.control), ("data", \.data),
        ("isfocus", \.isFocus), ("message", \.message), ("text", \.text), ("video", \.video),
    ]
}
