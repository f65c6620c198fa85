import CBuildIdentity
import GatewayService

/// Version, commit and build id of the running program, as `--version` prints them.
struct BuildIdentity: Hashable, CustomStringConvertible {
    var version: String
    /// Commit of the sources; nil where the build was not told one.
    var commit: String?
    /// Build id of the linker in hexadecimal; nil where the program was linked without one.
    var buildID: String?

    static let current = BuildIdentity(
        version: GatewayVersion.current, commit: String(cString: isthmus_commit()), buildID: ELFNote.buildID)

    init(version: String, commit: String?, buildID: String?) {
        self.version = version
        self.commit = commit.flatMap { $0.isEmpty ? nil : $0 }
        self.buildID = buildID
    }

    var description: String {
        "\(version) (\(commit.map { "commit \($0)" } ?? "commit unknown: built without git"), \(buildID.map { "build id \($0)" } ?? "no build id"))"
    }
}

/// Note of an ELF file: 12 octets of lengths and type, then name and value, each padded to 4 octets.
struct ELFNote: Hashable {
    var name: [UInt8]
    var type: UInt32
    var value: [UInt8]

    /// Reads the notes of a segment; the rest of a damaged segment is left out.
    static func notes(in segment: UnsafeRawBufferPointer) -> [ELFNote] {
        var notes: [ELFNote] = []
        var rest = segment[...]
        func take(_ count: Int) -> [UInt8]? {
            guard count <= rest.count else { return nil }
            defer { rest = rest.dropFirst(min((count + 3) & ~3, rest.count)) }
            return Array(rest.prefix(count))
        }
        func number() -> UInt32? {
            take(4).map { $0.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) } }
        }
        while let nameLength = number(), let valueLength = number(), let type = number(),
            let name = take(Int(nameLength)), let value = take(Int(valueLength))
        {
            notes.append(ELFNote(name: name, type: type, value: value))
        }
        return notes
    }

    /// Build id of this program, in hexadecimal (NT_GNU_BUILD_ID, type 3 of the name "GNU").
    static var buildID: String? {
        var (segment, length) = (0, 0)
        while let start = isthmus_notes(segment, &length) {
            let notes = notes(in: UnsafeRawBufferPointer(start: start, count: length))
            if let found = notes.first(where: { $0.type == 3 && $0.name == Array("GNU\0".utf8) }) {
                return found.value.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            }
            segment += 1
        }
        return nil
    }
}
