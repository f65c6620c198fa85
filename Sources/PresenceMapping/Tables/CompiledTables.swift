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
    let activities: ActivityTable
    let fromMSRTC: [(availability: NumberRange, activity: NumberRange, outcome: AvailabilityOutcome)]
    let fromXPIDF: [(status: String?, substatus: String?, outcome: AvailabilityOutcome)]
    let combine: [String: [CombineOutcome]]
    let places: PlaceTable
    let capabilities: CapabilityTable
    let contacts: ContactTable
    let languages: LanguageTable
    let zones: TimeZoneTable
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
        activities = ActivityTable(rows("rpid-to-availability"), ofTexts: rows("other-text-to-availability"))
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

        places = PlaceTable(toLocation: rows("place-to-location"), toPlace: rows("location-to-place"))
        capabilities = CapabilityTable(rows("capabilities"))
        contacts = ContactTable(rows("contact"))
        languages = LanguageTable(rows("languages"))
        zones = TimeZoneTable(rows("time-zones"))
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
}
