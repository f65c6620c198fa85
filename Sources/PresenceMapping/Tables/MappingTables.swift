/// The mapping tables of a gateway: parsed, checked, compiled and immutable.
///
/// The tables of the release are compiled into the program (``embedded``); an operator may replace single tables by files.
public struct MappingTables: Sendable {
    /// The tables by name.
    public let tables: [String: MappingTable]
    let compiled: CompiledTables

    /// Parses tables from files by name (`availability-to-pidf.json`); missing ones are taken from ``embedded``.
    ///
    /// - Throws: The first error, with file, line, row and rule; also for a file name that belongs to no table.
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

    /// The tables of the release. Stops the program if they are invalid.
    public static let embedded: MappingTables = {
        do {
            return try MappingTables(files: [:])
        } catch {
            // A build with invalid tables cannot run; the tests load them.
            fatalError("embedded mapping tables: \(error)")
        }
    }()

    /// The file names of all tables, with `.json`.
    public static var fileNames: [String] { MappingSchema.all.map { $0.name + ".json" } }

    /// The ids of all rows of all tables.
    public var rowIDs: Set<String> { Set(tables.values.flatMap { $0.rows.map(\.id) }) }

    /// The row with an id and the name of its table; nil if there is none.
    public func row(_ id: String) -> (table: String, row: MappingRow)? {
        for table in tables.values {
            if let row = table.rows.first(where: { $0.id == id }) { return (table.name, row) }
        }
        return nil
    }
}

extension MappingTables: Equatable {
    /// Whether all tables have the same rows.
    public static func == (left: MappingTables, right: MappingTables) -> Bool {
        left.tables.mapValues(\.rows) == right.tables.mapValues(\.rows)
    }
}

extension MappingTables {
    /// The first row of a table with a number in a column, for reference tables such as `container-policy`; nil if there is none.
    public func row(of table: String, where column: String, is number: Int) -> MappingRow? {
        tables[table]?.rows.first { $0.integer(column) == number }
    }
}
