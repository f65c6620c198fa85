import Foundation
import PresenceMapping

/// Loads the mapping tables: the compiled-in ones, replaced by files of a directory.
package enum MappingsDirectory {
    /// - Throws: `CommandFailure` (input refused) naming file, line, row and rule.
    package static func tables(_ directory: String?) throws(CommandFailure) -> MappingTables {
        guard let directory else { return .embedded }
        var files: [String: [UInt8]] = [:]
        for name in try names(directory) { files[name] = try InputFile.read("\(directory)/\(name)") }
        do {
            return try MappingTables(files: files)
        } catch {
            throw CommandFailure(.inputRefused, "\(directory)/\(error)")
        }
    }

    private static func names(_ directory: String) throws(CommandFailure) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasSuffix(".json") }.sorted()
        } catch {
            throw CommandFailure(.inputRefused, "\(directory): \(InputFile.reason(error))")
        }
    }
}
