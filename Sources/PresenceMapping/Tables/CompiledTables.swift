/// All tables compiled for lookups: sorted ranges and dictionaries, immutable.
final class CompiledTables: Sendable {
    let toPIDF: AvailabilityLookup<PIDFOutcome>
    /// The activity that is written before another, by the name of the other.
    let alsoActivities: [String: String]
    let toMSRTC: AvailabilityLookup<MSRTCOutcome>
    let classes: AvailabilityLookup<ClassOutcome>
    let classNames: [ClassOutcome]
    let toXPIDF: AvailabilityLookup<XPIDFOutcome>
    let tokens: [TokenOutcome]
    let fromRPID: [AvailabilityOutcome]
    /// Indexes in ``fromRPID`` of the rows that may match an activity name, in table order.
    private let rpidRows: [String: [Int]]
    /// Indexes in ``fromRPID`` of the rows that match any name.
    private let generalRPIDRows: [Int]
    let fromOther: [String: AvailabilityOutcome]
    let fromMSRTC: [(availability: NumberRange, activity: NumberRange, outcome: AvailabilityOutcome)]
    let fromXPIDF: [(status: String?, substatus: String?, outcome: AvailabilityOutcome)]
    let combine: [String: [CombineOutcome]]
    let placeToLocation: [String: WordOutcome]
    let sphereToLocation: [String: WordOutcome]
    let locationToPlace: [String: WordOutcome]
    let otherPlace: RowNote?
    let capabilityToCaps: [String: WordOutcome]
    let capsToCapability: [String: WordOutcome]
    let contacts: [ContactOutcome]
    /// Schemes of ``contacts`` in lower case, with their colon.
    private let addressSchemes: [[UInt8]]
    let languageByLCID: [Int: LanguageOutcome]
    let languageByTag: [String: LanguageOutcome]
    let unknownLanguage: RowNote?
    let zoneByName: [String: TimeZoneOutcome]
    let zoneByBias: [Int: TimeZoneOutcome]
    let unknownZone: RowNote?
    let freeBusy: [FreeBusyOutcome]
    let containers: [Int: WordOutcome]
    let fields: [String: (row: RowNote, targets: [String])]

    init(_ tables: [String: MappingTable]) {
        func rows(_ name: String) -> [MappingRow] { tables[name]?.rows ?? [] }

        toPIDF = AvailabilityLookup(rows("availability-to-pidf")) {
            PIDFOutcome(
                row: RowNote($0), token: $0.text("token"), isOpen: $0.text("basic") == "open", rpid: $0.text("rpid"),
                also: $0.text("also"), isOnline: $0.flag("online"))
        }
        alsoActivities = Dictionary(
            rows("availability-to-pidf").compactMap { row in row.text("rpid").flatMap { name in row.text("also").map { (name, $0) } } },
            uniquingKeysWith: { first, _ in first })
        toMSRTC = AvailabilityLookup(rows("availability-to-msrtc-pidf")) {
            MSRTCOutcome(
                row: RowNote($0), stateAvailability: $0.integer("state-avail") ?? 0, stateText: $0.text("state-text") ?? "",
                availability: $0.integer("availability-aggregate") ?? 0, activity: $0.integer("activity-aggregate") ?? 0)
        }
        func classOutcome(_ row: MappingRow) -> ClassOutcome {
            ClassOutcome(
                row: RowNote(row), name: row.text("class") ?? "", range: row.range("availability") ?? NumberRange(0, nil),
                publish: row.integer("publish") ?? 0, isIdle: row.flag("idle"), showsLastActive: row.flag("last-active"),
                isWilling: row.flag("willing"),
                idleAdds: row.integer("idle-adds"), text: row.text("text") ?? "")
        }
        classes = AvailabilityLookup(rows("availability-classes"), classOutcome)
        classNames = rows("availability-classes").map(classOutcome)
        toXPIDF = AvailabilityLookup(rows("availability-to-xpidf")) {
            XPIDFOutcome(row: RowNote($0), token: $0.text("token"), status: $0.text("status") ?? "", substatus: $0.text("substatus") ?? "")
        }
        tokens = rows("activity-token-to-rpid").map {
            TokenOutcome(
                row: RowNote($0), token: $0.text("token"), availability: $0.range("availability"), rpid: $0.text("rpid"),
                other: $0.text("other"), bounds: $0.range("bounds"))
        }
        let fromRPID = rows("rpid-to-availability").map { AvailabilityOutcome($0) }
        self.fromRPID = fromRPID
        var rpidRows: [String: [Int]] = [:]
        for name in Set(fromRPID.compactMap(\.rpid)) {
            rpidRows[name] = fromRPID.indices.filter { fromRPID[$0].rpid == nil || fromRPID[$0].rpid == name }
        }
        self.rpidRows = rpidRows
        generalRPIDRows = fromRPID.indices.filter { fromRPID[$0].rpid == nil }
        var byText: [String: AvailabilityOutcome] = [:]
        for row in rows("other-text-to-availability") {
            if let text = row.text("text") { byText[CompiledTables.folded(text)] = AvailabilityOutcome(row) }
        }
        fromOther = byText
        fromMSRTC = rows("msrtc-pidf-to-availability").map {
            (
                $0.range("availability-aggregate") ?? NumberRange(0, nil), $0.range("activity-aggregate") ?? NumberRange(0, nil),
                AvailabilityOutcome($0)
            )
        }
        fromXPIDF = rows("xpidf-to-availability").map { ($0.text("status"), $0.text("substatus"), AvailabilityOutcome($0)) }

        var combine: [String: [CombineOutcome]] = [:]
        for row in rows("combine").sorted(by: { ($0.integer("order") ?? 0) < ($1.integer("order") ?? 0) }) {
            combine[row.text("of") ?? "", default: []].append(
                CombineOutcome(row: RowNote(row), by: row.text("by") ?? "", prefer: row.text("prefer") ?? ""))
        }
        self.combine = combine

        var places: [String: WordOutcome] = [:]
        var spheres: [String: WordOutcome] = [:]
        for row in rows("place-to-location") {
            let outcome = WordOutcome(row: RowNote(row), word: row.text("location"))
            if let place = row.text("place") { places[place] = outcome }
            if let sphere = row.text("sphere") { spheres[sphere] = outcome }
        }
        placeToLocation = places
        sphereToLocation = spheres
        var locations: [String: WordOutcome] = [:]
        var otherPlace: RowNote?
        for row in rows("location-to-place") {
            if let location = row.text("location") {
                locations[CompiledTables.folded(location)] = WordOutcome(row: RowNote(row), word: row.text("place"))
            } else if otherPlace == nil {
                otherPlace = RowNote(row)
            }
        }
        locationToPlace = locations
        self.otherPlace = otherPlace

        var toCaps: [String: WordOutcome] = [:]
        var fromCaps: [String: WordOutcome] = [:]
        for row in rows("capabilities") {
            guard let capability = row.text("capability") else { continue }
            if row.text("direction") != "from-pidf" { toCaps[capability] = WordOutcome(row: RowNote(row), word: row.text("caps")) }
            if let caps = row.text("caps") { fromCaps[caps] = WordOutcome(row: RowNote(row), word: capability) }
        }
        capabilityToCaps = toCaps
        capsToCapability = fromCaps
        contacts = rows("contact").map {
            ContactOutcome(
                row: RowNote($0), kind: $0.text("kind") ?? "", type: $0.text("type") ?? "", label: $0.text("class"),
                relationship: $0.text("relationship"), scheme: $0.text("scheme"), element: $0.text("element"))
        }

        addressSchemes = Set(contacts.compactMap { $0.scheme?.lowercased() }).sorted().map { Array($0.utf8) + [UInt8(ascii: ":")] }

        var byLCID: [Int: LanguageOutcome] = [:]
        var byTag: [String: LanguageOutcome] = [:]
        var unknownLanguage: RowNote?
        for row in rows("languages") {
            guard let lcid = row.integer("lcid"), let tag = row.text("tag") else {
                unknownLanguage = unknownLanguage ?? RowNote(row)
                continue
            }
            let outcome = LanguageOutcome(row: RowNote(row), lcid: lcid, tag: tag)
            byLCID[lcid] = outcome
            byTag[tag.lowercased()] = outcome
            if row.flag("primary"), let primary = tag.split(separator: "-").first { byTag[primary.lowercased()] = outcome }
        }
        languageByLCID = byLCID
        languageByTag = byTag
        self.unknownLanguage = unknownLanguage

        var byName: [String: TimeZoneOutcome] = [:]
        var byBias: [Int: TimeZoneOutcome] = [:]
        var unknownZone: RowNote?
        for row in rows("time-zones") {
            guard let name = row.text("name"), let bias = row.integer("bias") else {
                unknownZone = unknownZone ?? RowNote(row)
                continue
            }
            let outcome = TimeZoneOutcome(row: RowNote(row), name: name, abbreviation: row.text("abbreviation"), bias: bias)
            byName[name] = outcome
            if byBias[bias] == nil { byBias[bias] = outcome }
        }
        zoneByName = byName
        zoneByBias = byBias
        self.unknownZone = unknownZone

        freeBusy = rows("free-busy").map {
            FreeBusyOutcome(
                row: RowNote($0), slot: $0.integer("slot") ?? 0, name: $0.text("name"), isOpen: $0.text("basic").map { $0 == "open" },
                rpid: $0.text("rpid"), isForReadingOnly: $0.text("direction") == "from-pidf")
        }
        var containers: [Int: WordOutcome] = [:]
        for row in rows("container-policy") {
            if let number = row.integer("container") { containers[number] = WordOutcome(row: RowNote(row), word: row.text("name")) }
        }
        self.containers = containers
        var fields: [String: (row: RowNote, targets: [String])] = [:]
        for row in rows("fields") {
            if let field = row.text("field") { fields[field] = (RowNote(row), row.texts("to")) }
        }
        self.fields = fields
    }

    /// The first row of `rpid-to-availability` for an activity name; `isOpen` is nil without a basic status.
    func availability(ofRPID name: String, isOpen: Bool?) -> AvailabilityOutcome? {
        for index in rpidRows[name] ?? generalRPIDRows {
            let wanted = fromRPID[index].isOpen
            if wanted == nil || wanted == isOpen { return fromRPID[index] }
        }
        return nil
    }

    /// Whether a URI has a scheme of the table `contact`, such as `tel:`.
    func isAddress(_ uri: String) -> Bool {
        var uri = uri
        return uri.withUTF8 { bytes in
            addressSchemes.contains { scheme in
                guard bytes.count >= scheme.count else { return false }
                for (index, byte) in scheme.enumerated() where bytes[index] | 0x20 != byte | 0x20 { return false }
                return true
            }
        }
    }

    /// Normalises free text for table lookups: lower case, hyphens and underscores as blanks, single blanks between words.
    static func folded(_ text: String) -> String {
        text.lowercased().split { $0 == " " || $0 == "-" || $0 == "_" || $0 == "\t" || $0 == "\n" }.joined(separator: " ")
    }
}
