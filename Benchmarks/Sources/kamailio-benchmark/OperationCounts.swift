import Glibc
import Measurement
import PresenceLoad

/// Counts of one operation: system calls by strace, allocations and retains by the library of `CallCounter`.
///
/// Requests are one at a time, so that the counts do not depend on how many of them a side finds waiting.
struct OperationCounts {
    let comparison: Comparison
    let isQuick: Bool

    private static let operations = [
        ("notify", "NOTIFY to 1,000 watchers, 8 connections"), ("publish", "PUBLISH and its NOTIFY, one at a time"),
        ("subscribe", "first SUBSCRIBE and its NOTIFY, one at a time"),
    ]

    func run() -> [Row] {
        var rows: [String: Row] = [:]
        func add(_ kind: String, _ operation: Int, _ side: Side, _ value: Double) {
            let (name, title) = Self.operations[operation]
            var row = rows["\(kind)-\(name)"] ?? Row(name: "\(kind)-\(name)", title: "\(kind) of a \(title)", unit: "count")
            row.add(side, value: value)
            rows["\(kind)-\(name)"] = row
        }
        var details = Table("system calls of one operation", "", "")
        for side in Side.allCases {
            for (operation, calls) in (systemCalls(side) ?? []).enumerated() {
                add("calls", operation, side, calls.reduce(0) { $0 + $1.count })
                let most = calls.sorted { $0.count > $1.count }.filter { $0.count >= 0.01 }.prefix(6)
                details.add(
                    Self.operations[operation].1, side.title, most.map { "\($0.name) \(text($0.count))" }.joined(separator: ", "))
            }
        }
        for side in Side.ours {
            for (operation, counts) in (calls(side) ?? []).enumerated() {
                add("allocations", operation, side, counts.allocations)
                if counts.retains > 0 { add("retains", operation, side, counts.retains) }
            }
        }
        let order = ["calls", "allocations", "retains"].flatMap { kind in Self.operations.map { "\(kind)-\($0.0)" } }
        let result = order.compactMap { rows[$0] }
        guard !result.isEmpty else { return [] }
        Table.show(result, title: "Counts of one operation: system calls (strace), allocations, retains")
        details.show(title: "System calls")
        return result
    }

    /// Runs the operations on a side that is started with a prefix.
    /// - Parameter count: Counts so far.
    /// - Returns: Of each operation, counts before and after, and the number of operations.
    private func measure<Count>(_ side: Side, prefix: [String], count: () -> Count) -> [(before: Count, after: Count, operations: Int)]? {
        var results: [(before: Count, after: Count, operations: Int)] = []
        func run(_ load: PresenceLoad, _ operations: Int, _ work: () -> Void) {
            load.quiet(200)
            let before = count()
            work()
            load.quiet(200)
            results.append((before, count(), operations))
        }
        func withSide(_ shape: LoadShape, _ body: (PresenceLoad) -> Void) -> Bool {
            let load = PresenceLoad(shape)
            guard let peer = side.start(comparison.isthmus, remotePort: load.remotePort, prefix: prefix) else { return false }
            load.connect(to: peer.port)
            body(load)
            load.stop()
            peer.stop()
            return true
        }
        let isMeasured = withSide(LoadShape(presentities: 1)) { load in
            load.subscribe(1_000, window: 32)
            load.change(0..<1, window: 1)
            let changes = isQuick ? 3 : 10
            run(load, changes * 1_000) {
                for _ in 0..<changes {
                    load.change(0..<1, window: 1)
                    load.quiet(20)
                }
            }
        }
        guard isMeasured else { return nil }
        let passes = isQuick ? 2 : 5
        let isRest = withSide(LoadShape(presentities: 200)) { load in
            load.subscribe(200, window: 1)
            load.change(0..<200, window: 1)
            run(load, passes * 200) { for _ in 0..<passes { load.change(0..<200, window: 1) } }
            run(load, passes * 200) { load.subscribe(passes * 200, window: 1) }
        }
        return isRest ? results : nil
    }

    // MARK: system calls

    private func systemCalls(_ side: Side) -> [[(name: String, count: Double)]]? {
        let strace = "/usr/bin/strace"
        guard access(strace, X_OK) == 0, let directory = PeerDirectory() else {
            print("kamailio-benchmark: system calls are not counted: the Debian package strace is not installed")
            return nil
        }
        defer { directory.remove() }
        let path = "\(directory.path)/calls"
        // With -D the program, not strace, is the child of this process.
        let prefix = [strace, "-D", "-f", "-qq", "--signal=none", "-s", "0", "-o", path]
        var reader = TraceReader(path)
        let measured = measure(side, prefix: prefix) { reader.counts() }
        return measured?.map { before, after, operations in
            after.map { (name: $0.key, count: Double($0.value - (before[$0.key] ?? 0)) / Double(operations)) }
        }
    }

    // MARK: allocations and retains

    private func calls(_ side: Side) -> [(allocations: Double, retains: Double)]? {
        var own = [CChar](repeating: 0, count: 4_096)
        guard readlink("/proc/self/exe", &own, 4_095) > 0, let directory = PeerDirectory() else { return nil }
        defer { directory.remove() }
        let program = String(decoding: own.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let library = program.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/libCallCounter.so"
        let zeros = String(repeating: "0", count: 64)
        guard access(library, R_OK) == 0, let path = directory.write(zeros, to: "counts") else {
            print("kamailio-benchmark: allocations are not counted: \(library) is not there")
            return nil
        }
        let file = open(path, O_RDWR)
        guard ftruncate(file, 0) == 0, ftruncate(file, 64) == 0,
            let shared = mmap(nil, 64, PROT_READ, MAP_SHARED, file, 0), shared != MAP_FAILED
        else { return nil }
        defer {
            munmap(shared, 64)
            close(file)
        }
        let numbers = shared.assumingMemoryBound(to: UInt64.self)
        let prefix = ["/usr/bin/env", "LD_PRELOAD=\(library)", "ISTHMUS_CALL_COUNTS=\(path)"]
        return measure(side, prefix: prefix) { (allocations: numbers[0], retains: numbers[1]) }?.map { before, after, operations in
            (
                allocations: Double(after.allocations - before.allocations) / Double(operations),
                retains: Double(after.retains - before.retains) / Double(operations)
            )
        }
    }
}

/// Reads the file that strace writes, as far as it has grown.
private struct TraceReader {
    private let path: String
    private var offset = 0
    private var rest: [UInt8] = []
    private var numbers: [String: Int] = [:]

    init(_ path: String) { self.path = path }

    /// System calls so far, by name.
    mutating func counts() -> [String: Int] {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { return numbers }
        defer { close(file) }
        // A side that starts again begins a new file.
        if lseek(file, 0, SEEK_END) < offset { (offset, rest) = (0, []) }
        lseek(file, off_t(offset), SEEK_SET)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(file, &buffer, buffer.count)
            guard count > 0 else { break }
            offset += count
            for byte in buffer[..<count] {
                if byte == 0x0A {
                    add(rest)
                    rest.removeAll(keepingCapacity: true)
                } else if rest.count < 64 {
                    rest.append(byte)
                }
            }
        }
        return numbers
    }

    /// Counts a line `PROCESS NAME(...`; a call that another thread interrupted is counted where it begins.
    private mutating func add(_ line: [UInt8]) {
        let name = line.drop { $0 != 0x20 }.drop { $0 == 0x20 }.prefix { $0 != 0x28 }
        guard let first = name.first, first >= 0x61, first <= 0x7A, name.count < line.count else { return }
        numbers[String(decoding: name, as: UTF8.self), default: 0] += 1
    }
}
