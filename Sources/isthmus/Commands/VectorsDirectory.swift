import Glibc

/// Directory of the golden vectors, found wherever the program is run from.
enum VectorsDirectory {
    /// Directories where the vectors are looked for, in this order.
    /// - Parameter program: path of the program; nil where the system does not tell.
    static func places(program: String?) -> [String] {
        let beside = program.flatMap { path in path.lastIndex(of: "/").map { String(path[...$0]) + "Vectors" } }
        return [beside, "/usr/share/isthmus/Vectors", "Vectors"].compactMap { $0 }
    }

    /// Returns the named directory, or the first of the places that exists.
    /// - Throws: `CommandFailure` naming every place that was looked at.
    static func find(
        named: String?, among places: [String] = places(program: programPath), isDirectory: (String) -> Bool = BatchConversion.isDirectory
    ) throws(CommandFailure) -> String {
        if let named {
            guard isDirectory(named) else { throw CommandFailure(.inputRefused, "\(named): no such directory") }
            return named
        }
        if let found = places.first(where: isDirectory) { return found }
        throw CommandFailure(
            .inputRefused, "no golden vectors in \(places.joined(separator: ", ")); name their directory with --vectors")
    }

    /// Path of the running program, of the file itself where it was started by a link.
    private static var programPath: String? {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let length = readlink("/proc/self/exe", &buffer, buffer.count)
        guard length > 0, length < buffer.count else { return nil }
        return String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
