/// A parsed table: its rows in file order, checked against the columns of its schema.
public struct MappingTable: Sendable {
    /// The name; also the file name without `.json`.
    public let name: String
    /// The section of the standard that the table implements or interprets.
    public let spec: String
    /// One sentence on the decision that the table makes; empty if absent.
    public let about: String
    /// The rows in file order, at most 4096.
    public let rows: [MappingRow]
    let schema: MappingSchema

    /// Parses a table.
    ///
    /// - Throws: The first error, with line, row and rule.
    init(_ bytes: [UInt8], schema: MappingSchema) throws(MappingTableError) {
        let file = schema.name + ".json"
        func fail(_ line: Int, _ rule: MappingTableError.Rule, _ message: String, row: String? = nil) -> MappingTableError {
            MappingTableError(file: file, line: line, row: row, rule: rule, message: message)
        }
        let root: JSONValue
        do {
            root = try JSONValue.parse(bytes)
        } catch {
            throw fail(error.line, .notJSON, error.message)
        }
        guard let members = root.members else { throw fail(root.line, .tableShape, "a table is an object") }
        for member in members where !["table", "spec", "match", "about", "rows"].contains(member.name) {
            throw fail(member.value.line, .tableShape, "a table has no member \"\(member.name)\"")
        }
        guard root["table"]?.string == schema.name else {
            throw fail(root["table"]?.line ?? root.line, .tableShape, "\"table\" must be \"\(schema.name)\", the name of the file")
        }
        guard let spec = root["spec"]?.string, !spec.isEmpty else { throw fail(root.line, .sectionMissing, "\"spec\" is missing") }
        guard root["match"]?.string == schema.match.rawValue else {
            throw fail(root["match"]?.line ?? root.line, .tableShape, "\"match\" must be \"\(schema.match.rawValue)\" for this table")
        }
        guard let values = root["rows"]?.array else { throw fail(root.line, .tableShape, "\"rows\" is missing") }
        guard values.count <= 4096 else { throw fail(root.line, .tableShape, "more than 4096 rows") }

        var rows: [MappingRow] = []
        rows.reserveCapacity(values.count)
        var seen: Set<String> = []
        for value in values {
            let row = try MappingTable.row(value, schema: schema)
            guard seen.insert(row.id).inserted else { throw fail(row.line, .duplicateRow, "this id stands twice", row: row.id) }
            rows.append(row)
        }
        self.name = schema.name
        self.spec = spec
        self.about = root["about"]?.string ?? ""
        self.rows = rows
        self.schema = schema
    }

    private static func row(_ value: JSONValue, schema: MappingSchema) throws(MappingTableError) -> MappingRow {
        let file = schema.name + ".json"
        let id = value["id"]?.string
        func fail(_ rule: MappingTableError.Rule, _ message: String) -> MappingTableError {
            MappingTableError(file: file, line: value.line, row: id, rule: rule, message: message)
        }
        guard let members = value.members else { throw fail(.tableShape, "a row is an object") }
        guard let id, (1...15).contains(id.utf8.count), id.utf8.allSatisfy({ isRowIDByte($0) }) else {
            throw fail(.rowID, "an id is 1 to 15 letters, digits and hyphens")
        }
        guard let section = value["section"]?.string, !section.isEmpty else {
            throw fail(.sectionMissing, "no section of a standard is cited")
        }
        var cells: [String: MappingCell] = [:]
        var loss: String?
        for member in members {
            switch member.name {
            case "id", "section": continue
            case "loss":
                guard let text = member.value.string, !text.isEmpty else { throw fail(.columnType, "\"loss\" is a sentence") }
                loss = text
            default:
                guard let column = schema.columns[member.name] else {
                    throw fail(.unknownColumn, "the table has no column \"\(member.name)\"")
                }
                guard let cell = cell(member.value, column.type) else {
                    throw fail(.columnType, "\"\(member.name)\" is not of type \(column.type.rawValue)")
                }
                cells[member.name] = cell
            }
        }
        for (name, column) in schema.columns where column.isRequired && cells[name] == nil {
            throw fail(.missingColumn, "\"\(name)\" is missing")
        }
        for (name, choices) in schema.choices?(cells) ?? [] {
            guard case .text(let word)? = cells[name], !choices.contains(word) else { continue }
            throw fail(.unknownWord, "\"\(name)\" is \"\(word)\", not one of \(choices.sorted().joined(separator: ", "))")
        }
        return MappingRow(id: id, section: section, loss: loss, line: value.line, cells: cells)
    }

    private static func isRowIDByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private static func cell(_ value: JSONValue, _ type: ColumnType) -> MappingCell? {
        switch type {
        case .text: return value.string.flatMap { $0.isEmpty ? nil : .text($0) }
        case .integer: return value.integer.flatMap { $0.magnitude <= UInt(Int32.max) ? .integer($0) : nil }
        case .flag: return value.bool.map { .flag($0) }
        case .texts: return value.array == nil ? nil : value.strings.map { .texts($0) }
        case .basic: return value.string.flatMap { $0 == "open" || $0 == "closed" ? .text($0) : nil }
        case .range:
            guard let ends = value.array, ends.count == 2, let lower = ends[0].integer, lower >= 0 else { return nil }
            if ends[1].isNull { return .range(NumberRange(lower, nil)) }
            guard let upper = ends[1].integer, upper >= lower else { return nil }
            return .range(NumberRange(lower, upper))
        }
    }
}
