import Glibc

/// The names that the machine's operator wrote into a hosts file (hosts(5)); read anew each time, since it may change.
enum HostsFile {
    /// Octets that are read at most.
    private static let limit = 1 << 20

    /// The addresses of a name, in the order of the file; nil: it does not stand there.
    static func addresses(of name: String, file: String) -> [String]? {
        guard let text = read(file) else { return nil }
        return addresses(of: name, in: text)
    }

    static func addresses(of name: String, in text: String) -> [String]? {
        var found: [String] = []
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }
            guard let address = words.first, words.dropFirst().contains(where: { $0.lowercased() == name }) else { continue }
            // An address with a zone, such as fe80::1%eth0, leads nowhere without it.
            guard !address.contains("%") else { continue }
            found.append(String(address))
        }
        return found.isEmpty ? nil : found
    }

    private static func read(_ file: String) -> String? {
        guard let handle = fopen(file, "r") else { return nil }
        defer { fclose(handle) }
        var bytes = [UInt8](repeating: 0, count: 16_384)
        var text: [UInt8] = []
        while text.count < limit {
            let count = fread(&bytes, 1, bytes.count, handle)
            if count == 0 { break }
            text += bytes[..<count]
        }
        return String(decoding: text, as: UTF8.self)
    }
}
