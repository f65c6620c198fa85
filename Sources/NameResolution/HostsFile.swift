import Glibc

/// The names of a hosts file (hosts(5)); the file is parsed again when it has changed.
struct HostsFile {
    /// Octets after which reading stops: 1 MiB.
    private static let limit = 1 << 20

    /// Identifies one state of the file: inode, modification time and size.
    private struct Stamp: Equatable {
        var file: UInt
        var seconds: Int
        var nanoseconds: Int
        var size: Int
    }

    let path: String
    private var stamp: Stamp?
    private var names: [String: [String]] = [:]

    init(_ path: String) { self.path = path }

    /// The addresses of a name in lower case, in file order; nil if the file does not list the name.
    mutating func addresses(of name: String) -> [String]? {
        var status = stat()
        guard stat(path, &status) == 0 else {
            (stamp, names) = (nil, [:])
            return nil
        }
        let present = Stamp(
            file: status.st_ino, seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec, size: Int(status.st_size))
        if present != stamp { (stamp, names) = (present, Self.names(in: read() ?? "")) }
        return names[name]
    }

    /// Parses a hosts file into addresses by name in lower case.
    static func names(in text: String) -> [String: [String]] {
        var found: [String: [String]] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }
            // Addresses with a zone, such as fe80::1%eth0, are skipped: they cannot be reached without the zone.
            guard let address = words.first, !address.contains("%") else { continue }
            for name in Set(words.dropFirst().map { $0.lowercased() }) { found[name, default: []].append(String(address)) }
        }
        return found
    }

    private func read() -> String? {
        guard let handle = fopen(path, "r") else { return nil }
        defer { fclose(handle) }
        var bytes = [UInt8](repeating: 0, count: 16_384)
        var text: [UInt8] = []
        while text.count < Self.limit {
            let count = fread(&bytes, 1, bytes.count, handle)
            if count == 0 { break }
            text += bytes[..<count]
        }
        return String(decoding: text, as: UTF8.self)
    }
}
