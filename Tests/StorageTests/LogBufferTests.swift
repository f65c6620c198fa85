import Foundation
import GRDB
import GRDBSQLite
import PresenceGateway
import Testing

@testable import Storage

/// File in memory with the interface of SQLite, which records its calls.
private final class RecordedFile {
    private struct Memory {
        var methods: UnsafePointer<sqlite3_io_methods>?
        var owner: Unmanaged<RecordedFile>
    }

    private(set) var calls: [String] = []
    private(set) var content: [UInt8] = []
    var failure = SQLITE_OK
    private let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    private let memory = UnsafeMutablePointer<Memory>.allocate(capacity: 1)

    init() {
        var table = sqlite3_io_methods()
        table.iVersion = 3
        table.xWrite = { file, data, amount, offset in
            RecordedFile.of(file).write(UnsafeRawBufferPointer(start: data, count: Int(amount)), Int(offset))
        }
        table.xRead = { file, _, _, _ in RecordedFile.of(file).note("read") }
        table.xSync = { file, _ in RecordedFile.of(file).note("sync") }
        methods.initialize(to: table)
        memory.initialize(to: Memory(methods: UnsafePointer(methods), owner: .passUnretained(self)))
    }

    deinit {
        methods.deallocate()
        memory.deallocate()
    }

    var file: UnsafeMutablePointer<sqlite3_file> { UnsafeMutableRawPointer(memory).assumingMemoryBound(to: sqlite3_file.self) }

    private static func of(_ file: UnsafeMutablePointer<sqlite3_file>?) -> RecordedFile {
        UnsafeMutableRawPointer(file!).assumingMemoryBound(to: Memory.self).pointee.owner.takeUnretainedValue()
    }

    private func note(_ call: String) -> Int32 {
        calls.append(call)
        return failure
    }

    private func write(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Int32 {
        if content.count < offset + bytes.count { content += [UInt8](repeating: 0, count: offset + bytes.count - content.count) }
        content.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        return note("write \(bytes.count) at \(offset)")
    }

    // MARK: what SQLite calls

    func write(_ bytes: [UInt8], at offset: Int) -> Int32 {
        bytes.withUnsafeBytes { file.pointee.pMethods.pointee.xWrite(file, $0.baseAddress, Int32($0.count), sqlite3_int64(offset)) }
    }

    /// Writes a page with its header; the last one of a transaction has the size of the database in the header.
    func writePage(_ index: Int, isLast: Bool = false, of byte: UInt8 = 7) -> Int32 {
        var header = [UInt8](repeating: 1, count: 24)
        header.replaceSubrange(4..<8, with: isLast ? [0, 0, 0, 9] : [0, 0, 0, 0])
        let code = write(header, at: 32 + index * 4_120)
        return code == SQLITE_OK ? write([UInt8](repeating: byte, count: 4_096), at: 32 + index * 4_120 + 24) : code
    }
}

@Suite("Writes of a commit to the log, joined into one")
struct LogBufferTests {
    @Test("the pages of a transaction are written by one call, with the last of them, and later ones are not touched")
    func joined() {
        let (file, log) = (RecordedFile(), LogBuffer())
        let methods = file.file.pointee.pMethods
        log.attach(to: file.file)
        #expect(file.write([UInt8](repeating: 3, count: 32), at: 0) == SQLITE_OK)
        for index in 0..<3 { #expect(file.writePage(index) == SQLITE_OK) }
        #expect(file.calls == [])
        #expect(file.writePage(3, isLast: true) == SQLITE_OK)
        #expect(file.calls == ["write \(32 + 4 * 4_120) at 0"])
        #expect(file.content.count == 32 + 4 * 4_120 && file.content[0] == 3 && file.content[32] == 1 && file.content[56] == 7)
        #expect(log.detach(keepingBytes: true) == SQLITE_OK)
        #expect(file.file.pointee.pMethods == methods)
        #expect(file.writePage(4) == SQLITE_OK)
        #expect(file.calls.dropFirst() == ["write 24 at 16512", "write 4096 at 16536"], "outside a commit nothing is buffered")
    }

    @Test("an error of the joined write is that of the last page")
    func failing() {
        let (file, log) = (RecordedFile(), LogBuffer())
        log.attach(to: file.file)
        file.failure = SQLITE_FULL
        #expect(file.writePage(0) == SQLITE_OK)
        #expect(file.writePage(1, isLast: true) == SQLITE_FULL)
        #expect(log.detach(keepingBytes: false) == SQLITE_OK)
        #expect(file.calls.count == 1)
    }

    @Test("a read and a sync see what was written before, also if it is elsewhere in the file or more than the buffer takes")
    func order() {
        let (file, log) = (RecordedFile(), LogBuffer())
        log.attach(to: file.file)
        #expect(file.writePage(0) == SQLITE_OK)
        #expect(file.file.pointee.pMethods.pointee.xRead(file.file, nil, 0, 0) == SQLITE_OK)
        #expect(file.writePage(1) == SQLITE_OK)
        #expect(file.file.pointee.pMethods.pointee.xSync(file.file, 0) == SQLITE_OK)
        #expect(file.calls == ["write 4120 at 32", "read", "write 4120 at 4152", "sync"])
        #expect(file.writePage(9) == SQLITE_OK)
        #expect(file.writePage(5) == SQLITE_OK)
        #expect(file.calls.last == "write 4120 at 37112")
        for index in 6..<100 { #expect(file.writePage(index) == SQLITE_OK) }
        #expect(file.writePage(100, isLast: true) == SQLITE_OK)
        #expect(file.content.count == 32 + 101 * 4_120)
        #expect(file.content[(32 + 5 * 4_120 + 24)...].enumerated().allSatisfy { $0.offset % 4_120 >= 4_096 || $0.element == 7 })
        #expect(log.detach(keepingBytes: true) == SQLITE_OK)
    }

    @Test("what a failed commit has left is dropped, and what a successful one has left is written")
    func rest() {
        let (file, log) = (RecordedFile(), LogBuffer())
        log.attach(to: file.file)
        #expect(file.writePage(0) == SQLITE_OK)
        #expect(log.detach(keepingBytes: false) == SQLITE_OK)
        #expect(file.calls == [])
        log.attach(to: file.file)
        #expect(file.writePage(0) == SQLITE_OK)
        file.failure = SQLITE_IOERR
        #expect(log.detach(keepingBytes: true) == SQLITE_IOERR)
        #expect(file.calls == ["write 4120 at 32"])
    }

    /// Number of calls by which this thread has written; nil: the kernel does not count them.
    private func writes() -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8) else { return nil }
        return text.split(separator: "\n").first { $0.hasPrefix("syscw:") }.flatMap { Int($0.dropFirst(7)) }
    }

    @Test("a commit of many records writes once")
    func once() throws {
        let scratch = try Scratch()
        let store = try SQLiteStore(path: scratch.path)
        try store.commit([.put(Records.dialog("d"))])
        for round in 0..<5 {
            let before = writes()
            try store.commit((0..<50).map { .put(Records.dialog("d\(round)-\($0)", resources: 2)) })
            let after = writes()
            if let before, let after { #expect(after - before == 1) }
        }
    }

    @Test("another connection reads each transaction at once, also one larger than the buffer and the cache; the file stays whole")
    func whole() throws {
        let scratch = try Scratch()
        let store = try SQLiteStore(path: scratch.path)
        let reader = try DatabaseQueue(path: scratch.path)
        func count() throws -> Int? { try reader.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM dialog") } }
        var expected = 0
        for (round, size) in [1, 3, 400, 1, 6_000, 2, 50].enumerated() {
            try store.commit((0..<size).map { .put(Records.dialog("d\(round)-\($0)", resources: 2)) })
            expected += size
            #expect(try count() == expected)
        }
        try store.commit((0..<3_000).map { .remove(.dialog("d4-\($0)")) })
        #expect(try count() == expected - 3_000)
        #expect(try reader.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") } == ["ok"])
        #expect(try store.load().count == expected - 3_000)
    }

    @Test("a transaction larger than the cache that fails leaves nothing, and the next ones are as they should be")
    func failedLarge() throws {
        let scratch = try Scratch()
        var options = SQLiteStore.Options()
        options.maximumBytes = 8 << 20
        let store = try SQLiteStore(path: scratch.path, options: options)
        try store.commit([.put(Records.dialog("first"))])
        #expect(throws: StoreFailure.self) { try store.commit((0..<12_000).map { .put(Records.dialog("d\($0)", resources: 2)) }) }
        try store.commit([.put(Records.dialog("second"))])
        let reader = try DatabaseQueue(path: scratch.path)
        #expect(try reader.read { try String.fetchAll($0, sql: "SELECT tag FROM dialog ORDER BY tag") } == ["first", "second"])
        #expect(try reader.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") } == ["ok"])
    }
}
