import PresenceDocuments

/// Writes the canonical model as legacyInterop, msrtc.pidf and xpidf.
struct LegacyWriter: MappingPart {
    let compiled: CompiledTables

    func legacyInterop(from presence: CanonicalPresence) -> MappingResult<LegacyInteropDocument> {
        var trace = MappingTrace()
        if case .legacyInterop(let document) = presence.residue { return trace.result(document) }
        let state = legacyState(of: presence)
        loseState(presence, to: "legacy-interop", &trace)
        loseWords(presence, to: "legacy-interop", &trace)
        return trace.result(
            LegacyInteropDocument(
                availability: state.availability, token: state.token.map { ActivityToken(rawValue: $0) }, dndState: state.dndState))
    }

    func msrtcPIDF(from presence: CanonicalPresence) -> MappingResult<MSRTCPIDFDocument> {
        var trace = MappingTrace()
        if case .msrtc(let document) = presence.residue { return trace.result(document) }
        let state = legacyState(of: presence)
        var document = MSRTCPIDFDocument(
            uri: presence.entity.withoutScheme, availability: nil, activity: nil, displayName: presence.displayNames.first?.text ?? "",
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

    func xpidf(from presence: CanonicalPresence) -> MappingResult<XPIDFDocument> {
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

    /// The displayed form of a phone number, from its display text or its tel URI.
    private func dialled(_ phone: CanonicalPhone) -> String {
        phone.display ?? (phone.uri.lowercased().hasPrefix("tel:") ? String(phone.uri.dropFirst(4).prefix { $0 != ";" }) : phone.uri)
    }
}
