import Foundation
import PresenceDocuments
import PresenceMapping

/// Finds and parses golden vectors: every `.json` file in the folders of the suites is a case.
package enum VectorLoader {
    /// The suites that this loader reads; it ignores other folders.
    package static let suites = ["aggregation", "conversion", "documents", "mapping", "resolution", "sip"]

    /// The sorted ids of all cases below a folder; empty if the folder does not exist.
    package static func ids(in root: URL) -> [String] {
        var ids: [String] = []
        for suite in suites {
            let folder = root.appendingPathComponent(suite)
            guard let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil) else { continue }
            for case let file as URL in files where file.pathExtension == "json" {
                let path = file.deletingPathExtension().standardizedFileURL.pathComponents
                ids.append(path.dropFirst(root.standardizedFileURL.pathComponents.count).joined(separator: "/"))
            }
        }
        return ids.sorted()
    }

    /// Parses one case.
    /// - Throws: ``VectorError`` if the file cannot be read, has unknown members, or lacks members that its suite requires.
    package static func load(_ id: String, in root: URL) throws(VectorError) -> VectorCase {
        func fail(_ message: String) -> VectorError { VectorError(id: id, message: message) }
        let file = root.appendingPathComponent(id + ".json")
        guard let data = try? Data(contentsOf: file) else { throw fail("cannot be read") }
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue.parse([UInt8](data)) } catch { throw fail("line \(error.line): \(error.message)") }
        guard let members = json.members else { throw fail("a vector is an object") }
        for member in members where !known.contains(member.name) { throw fail("line \(member.value.line): no member \"\(member.name)\"") }
        func text(_ name: String) throws(VectorError) -> String? {
            guard let value = json[name] else { return nil }
            guard let text = value.string, !text.isEmpty else { throw fail("line \(value.line): \"\(name)\" is not a text") }
            return text
        }
        func required(_ name: String) throws(VectorError) -> String {
            guard let text = try text(name) else { throw fail("\"\(name)\" is missing") }
            return text
        }
        func list(_ name: String) throws(VectorError) -> [String]? {
            guard let value = json[name] else { return nil }
            guard let texts = value.strings else { throw fail("line \(value.line): \"\(name)\" is not a list of texts") }
            return texts
        }
        func flag(_ name: String) throws(VectorError) -> Bool {
            guard let value = json[name] else { return false }
            guard let flag = value.bool else { throw fail("line \(value.line): \"\(name)\" is not true or false") }
            return flag
        }
        func format(_ name: String) throws(VectorError) -> PresenceFormat? {
            guard let text = try text(name) else { return nil }
            guard let format = PresenceFormat(named: text) else { throw fail("\"\(name)\": no format \"\(text)\"") }
            return format
        }

        guard try required("id") == id else { throw fail("\"id\" must be \"\(id)\", the path of the file") }
        guard let spec = try list("spec"), !spec.isEmpty else { throw fail("\"spec\" is missing") }
        guard let result = VectorCase.Expectation(rawValue: try required("result")) else {
            throw fail("\"result\" is valid, invalid or tolerated")
        }
        var options = ConversionOptions(entity: try text("entity"))
        if let name = try text("profile") {
            guard let profile = PIDFProfile(named: name) else { throw fail("no profile \"\(name)\"") }
            options.profile = profile
        }
        if let moment = try text("at") {
            guard let at = DateTime(moment) else { throw fail("\"at\" is not a time of RFC 3339") }
            options.at = at
        }
        options.lossless = try flag("lossless")
        let suite = String(id.prefix { $0 != "/" })
        let input = try required("input")
        var resolution: ResolutionQuestion?
        if suite == "resolution" {
            resolution = ResolutionQuestion(
                watcher: try required("watcher"), network: try required("network"), category: try required("category"),
                decision: try required("decision"))
        }
        let vector = VectorCase(
            id: id, suite: suite, comment: try required("comment"), spec: spec, source: try required("source"), result: result,
            input: input, expected: try text("expected"), error: try text("error"), format: try text("format"), from: try format("from"),
            to: try format("to"), options: options, loss: try list("loss"), rows: try list("rows") ?? [],
            roundtrip: try flag("roundtrip"), resolution: resolution, isStream: try flag("stream"),
            directory: file.deletingLastPathComponent())
        if result == .invalid, vector.error == nil { throw fail("\"error\" is missing: an invalid case needs a part of the error text") }
        if suite == "mapping" || suite == "conversion", vector.from == nil || vector.to == nil {
            throw fail("\"from\" or \"to\" is missing")
        }
        if suite == "aggregation", options.at == nil { throw fail("\"at\" is missing: the time of the computation") }
        if suite == "documents", vector.format == nil { throw fail("\"format\" is missing") }
        return vector
    }

    private static let known: Set<String> = [
        "id", "comment", "spec", "source", "flags", "direction", "format", "from", "to", "input", "expected", "result", "error", "loss",
        "rows", "roundtrip", "profile", "at", "lossless", "entity", "stream",
        "watcher", "network", "category", "decision",
    ]

    /// The patterns of `known-gaps.json` with their reasons, in file order; empty if there is no such file.
    package static func knownGaps(in root: URL) throws(VectorError) -> [(pattern: String, reason: String)] {
        let file = root.appendingPathComponent("known-gaps.json")
        guard let data = try? Data(contentsOf: file) else { return [] }
        func fail(_ message: String) -> VectorError { VectorError(id: "known-gaps", message: message) }
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue.parse([UInt8](data)) } catch { throw fail("line \(error.line): \(error.message)") }
        guard let members = json.members else { throw fail("an object of patterns and reasons is expected") }
        var gaps: [(pattern: String, reason: String)] = []
        for member in members {
            guard let reason = member.value.string, !reason.isEmpty else { throw fail("\(member.name) has no reason") }
            gaps.append((member.name, reason))
        }
        return gaps
    }

    /// Whether an id matches a pattern: the id itself, with `*` for any text.
    package static func matches(_ id: String, _ pattern: String) -> Bool {
        let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
        guard let first = parts.first, let last = parts.last, parts.count > 1 else { return id == pattern }
        guard id.hasPrefix(first), id.hasSuffix(last), id.count >= first.count + last.count else { return false }
        var rest = id.dropFirst(first.count).dropLast(last.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let found = rest.firstRange(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return true
    }
}
