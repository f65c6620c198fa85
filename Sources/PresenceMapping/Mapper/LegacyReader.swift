import PresenceDocuments
import XMLCore

/// Reads msrtc.pidf and xpidf into the canonical model.
struct LegacyReader: MappingPart {
    let compiled: CompiledTables

    func canonical(from document: MSRTCPIDFDocument) -> MappingResult<CanonicalPresence> {
        var trace = MappingTrace()
        var presence = CanonicalPresence(entity: document.uri.withScheme)
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

    func canonical(from document: XPIDFDocument, at moment: DateTime? = nil) -> MappingResult<CanonicalPresence> {
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
