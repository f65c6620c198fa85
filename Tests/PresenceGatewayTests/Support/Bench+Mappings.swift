import Foundation
import PresenceMapping
import Testing

extension Bench {
    /// The tables of the release, with other words in one of them.
    static func mapper(_ table: String, _ old: String, becomes new: String) throws -> PresenceMapper {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../../Mappings/\(table).json")
        let text = try String(contentsOf: file.standardizedFileURL, encoding: .utf8)
        try #require(text.contains(old))
        let changed = text.replacingOccurrences(of: old, with: new)
        return PresenceMapper(tables: try MappingTables(files: ["\(table).json": Array(changed.utf8)]))
    }
}
