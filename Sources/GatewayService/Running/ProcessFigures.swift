import Administration
import Glibc

/// Figures of this process that the kernel keeps, under the names that Prometheus gives them.
struct ProcessFigures: Hashable {
    /// User and system time in seconds.
    var processorSeconds: Double
    /// Size of the address space in octets.
    var virtualOctets: Double
    /// Resident memory in octets.
    var residentOctets: Double
    /// Start in seconds since 1970.
    var startSeconds: Double
    /// Open file descriptors.
    var descriptors: Int

    /// Reads the figures from `/proc`; nil where it is not mounted.
    static func read() -> ProcessFigures? {
        guard let status = text(of: "/proc/self/stat"), let system = text(of: "/proc/stat") else { return nil }
        return ProcessFigures(
            status: status, system: system, ticksPerSecond: Double(sysconf(Int32(_SC_CLK_TCK))),
            pageOctets: Double(sysconf(Int32(_SC_PAGESIZE))), descriptors: openDescriptors())
    }

    /// - Parameters:
    ///   - status: `/proc/self/stat` (proc(5)).
    ///   - system: `/proc/stat`, for the start of the machine.
    init?(status: String, system: String, ticksPerSecond: Double, pageOctets: Double, descriptors: Int) {
        // The name of the program is in parentheses and may contain any octet.
        guard let end = status.lastIndex(of: ")") else { return nil }
        let fields = status[status.index(after: end)...].split(whereSeparator: \.isWhitespace)
        // Field 3 of proc(5) is the first one here.
        func field(_ number: Int) -> Double? { fields.count > number - 3 ? Double(fields[number - 3]) : nil }
        guard let user = field(14), let kernel = field(15), let start = field(22), let virtual = field(23), let pages = field(24),
            let boot = system.split(separator: "\n").first(where: { $0.hasPrefix("btime ") }).flatMap({ Double($0.dropFirst(6)) })
        else { return nil }
        processorSeconds = (user + kernel) / ticksPerSecond
        virtualOctets = virtual
        residentOctets = pages * pageOctets
        startSeconds = boot + start / ticksPerSecond
        self.descriptors = descriptors
    }

    var metrics: [Metric] {
        [
            Metric("process_cpu_seconds_total", .counter, help: "User and system time of this process.", value: processorSeconds),
            Metric("process_virtual_memory_bytes", .gauge, help: "Size of the address space.", value: virtualOctets),
            Metric("process_resident_memory_bytes", .gauge, help: "Resident memory.", value: residentOctets),
            Metric("process_start_time_seconds", .gauge, help: "Start of this process, in seconds since 1970.", value: startSeconds),
            Metric("process_open_fds", .gauge, help: "Open file descriptors.", value: Double(descriptors)),
        ]
    }

    private static func text(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var octets: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4_096)
        while case let count = Glibc.read(file, &part, part.count), count > 0 { octets += part.prefix(count) }
        return String(decoding: octets, as: UTF8.self)
    }

    private static func openDescriptors() -> Int {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        // Without "." and "..", and the descriptor of the folder itself.
        return max(count - 3, 0)
    }
}
