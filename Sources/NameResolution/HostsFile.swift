import Glibc

/// The names that the machine's operator wrote into a hosts file (hosts(5)); read anew when it has changed.
struct HostsFile {
    /// Octets that are read at most.
    private static let limit = 1 << 20

    /// What tells one state of the file from another.
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

    /// The addresses of a name in lower case, in the order of the file; nil: it does not stand there.
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

    /// Names in lower case with their addresses.
    static func names(in text: String) -> [String: [String]] {
        var found: [String: [String]] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }
            // An address with a zone, such as fe80::1%eth0, leads nowhere without it.
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
