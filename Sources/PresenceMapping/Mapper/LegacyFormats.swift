import PresenceDocuments
import XMLCore

extension PresenceMapper {
    // MARK: legacyInterop

    /// Creates the legacyInterop body (MS-PRES 2.2.2.7.6): availability and token; everything else is reported as lost.
    public func legacyInterop(from presence: CanonicalPresence) -> MappingResult<LegacyInteropDocument> {
        var trace = MappingTrace()
        if case .legacyInterop(let document) = presence.residue { return trace.result(document) }
        let state = legacyState(of: presence)
        loseState(presence, to: "legacy-interop", &trace)
        loseWords(presence, to: "legacy-interop", &trace)
        return trace.result(
            LegacyInteropDocument(
                availability: state.availability, token: state.token.map { ActivityToken(rawValue: $0) }, dndState: state.dndState))
    }

    // MARK: msrtc.pidf

    /// Creates text/xml+msrtc.pidf by the table of MS-PRES 3.7.5.5. The text of the state is the token, or the word of the class.
    /// Unknown values of required elements are empty (MS-PRES 2.2.2.9).
    public func msrtcPIDF(from presence: CanonicalPresence) -> MappingResult<MSRTCPIDFDocument> {
        var trace = MappingTrace()
        if case .msrtc(let document) = presence.residue { return trace.result(document) }
        let state = legacyState(of: presence)
        var document = MSRTCPIDFDocument(
            uri: withoutScheme(presence.entity), availability: nil, activity: nil, displayName: presence.displayNames.first?.text ?? "",
            email: presence.emails.first ?? "", phoneNumber: PresentityPhoneNumber(presence.phones.first.map { dialled($0) } ?? ""))
        if let row = compiled.toMSRTC.find(Int(state.availability), token: state.token) {
            trace.use(row.row, field: "availability", value: String(state.availability))
            document.availability = AggregateNumber(UInt32(clamping: row.availability))
            document.activity = AggregateNumber(UInt32(clamping: row.activity))
            document.aggregateState = AggregateUserState(
                availability: UInt32(clamping: row.stateAvailability), token: state.token ?? row.stateText)
            if row.row.loss == nil, state.availability != UInt32(clamping: row.stateAvailability) {
                lose("availability-number", String(state.availability), to: "msrtc", &trace)
            }
        }
        loseState(presence, to: "msrtc", &trace)
        loseWords(presence, to: "msrtc", &trace)
        for phone in presence.phones.dropFirst() { lose("further-phone", phone.uri, to: "msrtc", &trace) }
        return trace.result(document)
    }

    /// Reads text/xml+msrtc.pidf; the state of newer servers takes precedence over the aggregate numbers (MS-PRES 9).
    public func canonical(from document: MSRTCPIDFDocument) -> MappingResult<CanonicalPresence> {
        var trace = MappingTrace()
        var presence = CanonicalPresence(entity: withScheme(document.uri))
        presence.residue = .msrtc(document)
        if let state = document.aggregateState {
            presence.availability = state.availability
            presence.provenance = .published
            let word = state.token.trimmed
            if !word.isEmpty, !compiled.classNames.contains(where: { $0.text == word }) {
                presence.activity = CanonicalActivity(token: word)
            }
        } else if let availability = document.availability?.aggregate {
            let activity = Int(document.activity?.aggregate ?? 0)
            if let row = compiled.fromMSRTC.first(where: { $0.availability.contains(Int(availability)) && $0.activity.contains(activity) })
            {
                trace.use(row.outcome.row, field: "availability", value: "\(availability)/\(activity)")
                apply(row.outcome, to: &presence, &trace)
            }
        }
        if let availability = presence.availability {
            // Numbers of idle classes imply an idle user; other numbers imply nothing.
            if compiled.classes.find(Int(availability), token: nil)?.isIdle == true { presence.isIdle = true }
        }
        if let name = document.displayName?.trimmed, !name.isEmpty { presence.displayNames = [CanonicalText(name)] }
        if let email = document.email?.trimmed, !email.isEmpty { presence.emails = [email] }
        if let phone = document.phoneNumber, !phone.number.trimmed.isEmpty {
            presence.phones = [CanonicalPhone(type: "work", uri: telURI(phone.number.trimmed), display: phone.number.trimmed)]
        }
        if let note = document.activity?.note?.trimmed, !note.isEmpty { presence.notes = [CanonicalNote(note)] }
        for device in document.devices { presence.unmapped.append(UnmappedField("devices", device.deviceName ?? device.epid ?? "")) }
        if document.userInfo != nil { presence.unmapped.append(UnmappedField("extension", "userInfo")) }
        for fragment in document.extensions { presence.unmapped.append(UnmappedField("extension", fragment.localName)) }
        return trace.result(presence)
    }

    // MARK: xpidf

    /// Reads xpidf; of several addresses an open one is used, then the one with the greatest priority.
    ///
    /// - Parameter moment: Atoms that have expired at this time are left out (MS-SIP 7); nil uses all of them.
    public func canonical(from document: XPIDFDocument, at moment: DateTime? = nil) -> MappingResult<CanonicalPresence> {
        var trace = MappingTrace()
        var presence = CanonicalPresence(entity: document.entity)
        presence.residue = .xpidf(document)
        var best: (address: XPIDFAddress, row: AvailabilityOutcome)?
        let atoms = document.atoms.filter { atom in moment.flatMap { now in atom.expires.map { now < $0 } } ?? true }
        for address in atoms.flatMap(\.addresses) {
            let row = compiled.fromXPIDF.first {
                ($0.status == nil || $0.status == address.status?.name) && ($0.substatus == nil || $0.substatus == address.substatus?.name)
            }
            guard let outcome = row?.outcome else { continue }
            guard let current = best else {
                best = (address, outcome)
                continue
            }
            let wins =
                outcome.isOpen == current.row.isOpen
                ? (address.priority ?? -1) > (current.address.priority ?? -1) : outcome.isOpen == true
            if wins { best = (address, outcome) }
        }
        if let best {
            let words = [best.address.status?.name, best.address.substatus?.name].compactMap { $0 }.joined(separator: "/")
            trace.use(best.row.row, field: "status", value: words)
            apply(best.row, to: &presence, &trace)
            presence.basic = best.row.isOpen == true ? .open : .closed
            if let rpid = best.row.rpid { presence.activities = [CanonicalRPIDActivity(rpid)] }
            if compiled.classes.find(best.row.availability, token: nil)?.isIdle == true { presence.isIdle = true }
            if let note = best.address.note?.trimmed, !note.isEmpty { presence.notes = [CanonicalNote(note)] }
        }
        if let name = document.displayName?.trimmed, !name.isEmpty { presence.displayNames = [CanonicalText(name)] }
        return trace.result(presence)
    }

    /// Creates xpidf with one address.
    public func xpidf(from presence: CanonicalPresence) -> MappingResult<XPIDFDocument> {
        var trace = MappingTrace()
        if case .xpidf(let document) = presence.residue { return trace.result(document) }
        let state = legacyState(of: presence)
        var document = XPIDFDocument(presentity: presence.entity + ";method=SUBSCRIBE")
        document.displayName = presence.displayNames.first?.text
        var address = XPIDFAddress(uri: presence.entity)
        if let row = compiled.toXPIDF.find(Int(state.availability), token: state.token) {
            trace.use(row.row, field: "availability", value: String(state.availability))
            address.status = XPIDFStatus(row.status)
            address.substatus = XPIDFSubstatus(row.substatus)
            if row.row.loss == nil { loseNumber(state.availability, to: "xpidf", &trace) }
            if let token = state.token, row.token != token { lose("activity-token", token, to: "xpidf", &trace) }
        }
        document.atoms = [XPIDFAtom(id: "a0", addresses: [address])]
        loseState(presence, to: "xpidf", &trace)
        loseWords(presence, to: "xpidf", &trace)
        return trace.result(document)
    }

    // MARK: Shared

    /// Applies a row that maps to availability.
    func apply(_ row: AvailabilityOutcome, text: CanonicalText? = nil, to presence: inout CanonicalPresence, _ trace: inout MappingTrace) {
        presence.availability = UInt32(clamping: row.availability)
        presence.provenance = .derived(rowID: row.row.id)
        var activity = CanonicalActivity(token: row.token, bounds: row.bounds)
        if let custom = row.custom {
            if custom == "{text}" {
                if let text { activity.texts = [text] }
            } else {
                activity.texts = [CanonicalText(custom, language: "en-US", lcid: lcid(ofLanguage: "en-US", &trace))]
            }
        }
        presence.activity = activity.token == nil && activity.texts.isEmpty ? nil : activity
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

    func withoutScheme(_ uri: String) -> String {
        for scheme in ["sip:", "sips:", "pres:"] where uri.lowercased().hasPrefix(scheme) { return String(uri.dropFirst(scheme.count)) }
        return uri
    }

    func withScheme(_ uri: String) -> String {
        let lower = uri.lowercased()
        return ["sip:", "sips:", "pres:", "tel:"].contains { lower.hasPrefix($0) } ? uri : "sip:" + uri
    }

    /// The displayed form of a phone number, from its display text or its tel URI.
    private func dialled(_ phone: CanonicalPhone) -> String {
        phone.display ?? (phone.uri.lowercased().hasPrefix("tel:") ? String(phone.uri.dropFirst(4).prefix { $0 != ";" }) : phone.uri)
    }

    /// Creates a tel URI from a displayed number: digits, a leading plus, and an extension after x (RFC 3966).
    private func telURI(_ number: String) -> String {
        if number.lowercased().hasPrefix("tel:") { return number }
        var digits = ""
        var suffix = ""
        var inExtension = false
        for byte in number.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                if inExtension {
                    suffix.unicodeScalars.append(Unicode.Scalar(byte))
                } else {
                    digits.unicodeScalars.append(Unicode.Scalar(byte))
                }
            case UInt8(ascii: "+") where digits.isEmpty: digits = "+"
            case UInt8(ascii: "x"), UInt8(ascii: "X"): inExtension = true
            default: continue
            }
        }
        return "tel:" + digits + (suffix.isEmpty ? "" : ";ext=" + suffix)
    }
}
