/// The mapping tables of one gateway: loaded from bytes, checked, compiled, immutable.
///
/// The tables of the release are compiled into the program (``embedded``); an operator may replace any of them with files of his own.
public struct MappingTables: Sendable {
    /// Every table, by name.
    public let tables: [String: MappingTable]
    let compiled: CompiledTables

    /// Reads tables from files by name (`availability-to-pidf.json`); what is not given comes from the embedded ones.
    ///
    /// - Throws: The first mistake, with file, line, row and rule. A name that no table has is a mistake too.
    public init(files: [String: [UInt8]]) throws(MappingTableError) {
        for name in files.keys.sorted() where !MappingSchema.all.contains(where: { $0.name + ".json" == name }) {
            throw MappingTableError(file: name, rule: .unknownFile, message: "no table has this name")
        }
        var tables: [String: MappingTable] = [:]
        for schema in MappingSchema.all {
            let file = schema.name + ".json"
            guard let bytes = files[file] ?? EmbeddedMappings.files[file] else {
                throw MappingTableError(file: file, rule: .fileMissing, message: "the table is missing")
            }
            tables[schema.name] = try MappingTable(bytes, schema: schema)
        }
        self.tables = tables
        compiled = CompiledTables(tables)
    }

    /// The tables of the release.
    public static let embedded: MappingTables = {
        do {
            return try MappingTables(files: [:])
        } catch {
            // A build whose own tables do not load cannot run; the tests load them.
            fatalError("embedded mapping tables: \(error)")
        }
    }()

    /// The names of all tables, with `.json`, as a directory of replacements may hold them.
    public static var fileNames: [String] { MappingSchema.all.map { $0.name + ".json" } }

    /// Every row of every table by id.
    public var rowIDs: Set<String> { Set(tables.values.flatMap { $0.rows.map(\.id) }) }

    /// The row with that id and the name of its table.
    public func row(_ id: String) -> (table: String, row: MappingRow)? {
        for table in tables.values {
            if let row = table.rows.first(where: { $0.id == id }) { return (table.name, row) }
        }
        return nil
    }
}

extension MappingTables: Equatable {
    /// Whether every table has the same rows.
    public static func == (left: MappingTables, right: MappingTables) -> Bool {
        left.tables.mapValues(\.rows) == right.tables.mapValues(\.rows)
    }
}

extension MappingTables {
    /// The first row of a table whose number in one column is the given one: for reference tables such as `container-policy`.
    public func row(of table: String, where column: String, is number: Int) -> MappingRow? {
        tables[table]?.rows.first { $0.integer(column) == number }
    }
}
