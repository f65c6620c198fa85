import Foundation
import PresenceMapping

/// Loads the mapping tables: the compiled-in ones, replaced by files of a directory.
package enum MappingsDirectory {
    /// - Throws: `ServiceFailure` naming file, line, row and rule.
    package static func tables(_ directory: String?) throws(ServiceFailure) -> MappingTables {
        guard let directory else { return .embedded }
        var files: [String: [UInt8]] = [:]
        for name in try names(directory) { files[name] = try InputFile.read("\(directory)/\(name)") }
        do {
            return try MappingTables(files: files)
        } catch {
            throw ServiceFailure("\(directory)/\(error)")
        }
    }

    private static func names(_ directory: String) throws(ServiceFailure) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasSuffix(".json") }.sorted()
        } catch {
            throw ServiceFailure("\(directory): \(InputFile.reason(error))")
        }
    }
}
