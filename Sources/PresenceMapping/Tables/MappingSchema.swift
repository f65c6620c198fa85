/// The columns of a table and the rule for selecting rows; the rows are data in `Mappings/`.
struct MappingSchema: Sendable {
    enum Match: String, Sendable {
        /// The first row with matching key columns; an absent cell matches everything.
        case first
        /// The row with exactly these key cells, which must be unique.
        case exact
        /// All rows, sorted by `order`.
        case order
    }

    struct Column: Sendable {
        var type: ColumnType
        var isRequired: Bool
    }

    var name: String
    var match: Match
    /// Columns that select a row, in the order of comparison.
    var keys: [String]
    var columns: [String: Column]
    /// The key column of type `range` that must cover every number from 0; nil: none.
    var covers: String?
    /// The permitted words of text columns that code interprets, in the order of the checks.
    var choices: (@Sendable ([String: MappingCell]) -> [(column: String, words: Set<String>)])?

    init(
        _ name: String, _ match: Match, keys: [String], required: [String: ColumnType], optional: [String: ColumnType] = [:],
        covers: String? = nil, choices: (@Sendable ([String: MappingCell]) -> [(column: String, words: Set<String>)])? = nil
    ) {
        self.name = name
        self.match = match
        self.keys = keys
        self.covers = covers
        self.choices = choices
        var columns: [String: Column] = [:]
        for (name, type) in required { columns[name] = Column(type: type, isRequired: true) }
        for (name, type) in optional { columns[name] = Column(type: type, isRequired: false) }
        self.columns = columns
    }

    static let all: [MappingSchema] = [
        MappingSchema(
            "availability-to-pidf", .first, keys: ["availability", "token"], required: ["availability": .range, "basic": .basic],
            optional: ["token": .text, "rpid": .text, "also": .text, "online": .flag], covers: "availability"),
        MappingSchema(
            "availability-to-msrtc-pidf", .first, keys: ["availability", "token"],
            required: [
                "availability": .range, "state-avail": .integer, "state-text": .text, "availability-aggregate": .integer,
                "activity-aggregate": .integer,
            ], optional: ["token": .text], covers: "availability"),
        MappingSchema(
            "availability-classes", .first, keys: ["availability"],
            required: [
                "availability": .range, "class": .text, "publish": .integer, "idle": .flag, "last-active": .flag, "willing": .flag,
                "text": .text,
            ],
            optional: ["idle-adds": .integer], covers: "availability"),
        MappingSchema(
            "activity-token-to-rpid", .first, keys: ["token", "availability"], required: [:],
            optional: ["token": .text, "availability": .range, "rpid": .text, "other": .text, "bounds": .range]),
        MappingSchema(
            "rpid-to-availability", .first, keys: ["basic", "rpid"], required: ["availability": .integer, "rank": .integer],
            optional: ["rpid": .text, "basic": .basic, "token": .text, "custom": .text, "bounds": .range]),
        MappingSchema(
            "other-text-to-availability", .exact, keys: ["text"], required: ["text": .text, "availability": .integer, "rank": .integer],
            optional: ["token": .text, "custom": .text]),
        MappingSchema(
            "msrtc-pidf-to-availability", .first, keys: ["availability-aggregate", "activity-aggregate"],
            required: ["availability-aggregate": .range, "activity-aggregate": .range, "availability": .integer],
            optional: ["token": .text, "custom": .text]),
        MappingSchema(
            "availability-to-xpidf", .first, keys: ["availability", "token"],
            required: ["availability": .range, "status": .text, "substatus": .text], optional: ["token": .text], covers: "availability"),
        MappingSchema(
            "xpidf-to-availability", .first, keys: ["status", "substatus"], required: ["availability": .integer, "basic": .basic],
            optional: ["status": .text, "substatus": .text, "token": .text, "custom": .text, "rpid": .text]),
        MappingSchema(
            "combine", .order, keys: ["of", "order"], required: ["of": .text, "order": .integer, "by": .text, "prefer": .text],
            choices: { cells in
                guard case .text(let of)? = cells["of"], case .text(let by)? = cells["by"] else { return [] }
                let criteria = CombineOutcome.words[of] ?? [:]
                return [
                    ("of", Set(CombineOutcome.words.keys)), ("by", Set(criteria.keys)), ("prefer", criteria[by] ?? []),
                ]
            }),
        MappingSchema(
            "place-to-location", .exact, keys: ["place", "sphere"], required: ["location": .text],
            optional: ["place": .text, "sphere": .text]),
        MappingSchema(
            "location-to-place", .first, keys: ["location"], required: [:],
            optional: ["location": .text, "place": .text, "other": .text]),
        MappingSchema(
            "capabilities", .exact, keys: ["capability", "caps"], required: ["capability": .text],
            optional: ["caps": .text, "direction": .text]),
        MappingSchema(
            "contact", .exact, keys: ["kind", "type", "class", "relationship"], required: ["kind": .text, "type": .text],
            optional: ["class": .text, "relationship": .text, "scheme": .text, "element": .text]),
        MappingSchema(
            "languages", .exact, keys: ["lcid"], required: [:], optional: ["lcid": .integer, "tag": .text, "primary": .flag]),
        MappingSchema(
            "time-zones", .exact, keys: ["name"], required: [:],
            optional: ["name": .text, "abbreviation": .text, "bias": .integer]),
        MappingSchema(
            "free-busy", .first, keys: ["rpid", "basic", "direction", "slot"], required: ["slot": .integer],
            optional: ["name": .text, "basic": .basic, "rpid": .text, "direction": .text]),
        MappingSchema(
            "container-policy", .exact, keys: ["container"], required: ["container": .integer, "name": .text],
            optional: ["members": .texts, "publishes": .texts, "reduced": .flag]),
        MappingSchema("fields", .exact, keys: ["field"], required: ["field": .text, "to": .texts]),
    ]
}
