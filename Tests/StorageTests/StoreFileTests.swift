import Foundation
import GRDB
import GatewayTesting
import PresenceGateway
import SIPCore
import ScriptedPeers
import Storage
import Testing

@Suite("The file of the store")
struct StoreFileTests {
    @Test("a commit that the file has no room for throws, names the file, and keeps nothing of it; the store goes on")
    func full() throws {
        let scratch = try Scratch()
        var options = SQLiteStore.Options()
        options.maximumBytes = 256 << 10
        let store = try SQLiteStore(path: scratch.path, options: options)
        try store.commit([.put(Records.presentity("sip:a@example.com"))])
        let before = try Set(store.load())
        let large = Records.presentity("sip:b@example.com", document: [UInt8](repeating: 0x61, count: 512 << 10))
        let failure = #expect(throws: StoreFailure.self) {
            try store.commit([.put(Records.presentity("sip:c@example.com")), .put(large), .remove(.presentity("sip:a@example.com"))])
        }
        #expect(failure?.description.contains(scratch.path) == true)
        #expect(failure?.description.contains("full") == true)
        #expect(try Set(store.load()) == before)
        try store.commit([.put(Records.presentity("sip:c@example.com"))])
        #expect(try store.load().count == 2)
    }

    @Test("a database that somebody else has locked throws after a moment, and works when it is free")
    func locked() throws {
        let scratch = try Scratch()
        let store = try SQLiteStore(path: scratch.path)
        let other = try DatabaseQueue(path: scratch.path)
        try other.writeWithoutTransaction { database in
            try database.execute(sql: "BEGIN IMMEDIATE")
            #expect(throws: StoreFailure.self) { try store.commit([.put(Records.presentity("sip:a@example.com"))]) }
            try database.execute(sql: "ROLLBACK")
        }
        try store.commit([.put(Records.presentity("sip:a@example.com"))])
        #expect(try store.load().count == 1)
    }

    @Test("a second process is kept out; when the first is gone it gets in")
    func secondProcess() throws {
        let scratch = try Scratch()
        var first: SQLiteStore? = try SQLiteStore(path: scratch.path)
        let failure = #expect(throws: StoreFailure.self) { try SQLiteStore(path: scratch.path) }
        #expect(failure?.description.contains("another process") == true)
        #expect(throws: Never.self) { try SQLiteStore.check(path: scratch.path) }
        try first?.commit([])
        first = nil
        #expect(throws: Never.self) { try SQLiteStore(path: scratch.path) }
    }

    /// Runs a command of the system; its exit code.
    private func run(_ command: String, _ arguments: String...) throws -> Int32 {
        let process = try Process.run(URL(fileURLWithPath: command), arguments: arguments)
        process.waitUntilExit()
        return process.terminationStatus
    }

    @Test("another process is kept out of the database by whatever name it opens it", arguments: ["isthmus.db", "symbolic.db", "hard.db"])
    func otherNames(_ name: String) throws {
        let scratch = try Scratch()
        func path(_ name: String) -> String { scratch.directory.appendingPathComponent(name).path }
        _ = try SQLiteStore(path: scratch.path)
        #expect(symlink(scratch.path, path("symbolic.db")) == 0)
        #expect(link(scratch.path, path("hard.db")) == 0)
        // The other process has it: a shell that holds the lock of the file while it runs us out.
        let other = Process()
        other.executableURL = URL(fileURLWithPath: "/usr/bin/flock")
        let (input, output) = (Pipe(), Pipe())
        other.arguments = [scratch.path, "sh", "-c", "echo locked; cat"]
        other.standardInput = input
        other.standardOutput = output
        try other.run()
        #expect(output.fileHandleForReading.availableData == Data("locked\n".utf8))
        let failure = #expect(throws: StoreFailure.self) { try SQLiteStore(path: path(name)) }
        #expect(failure?.description.contains("another process") == true)
        try input.fileHandleForWriting.close()
        other.waitUntilExit()
        // We have it.
        let store = try SQLiteStore(path: path(name))
        for taken in ["isthmus.db", "symbolic.db", "hard.db"] {
            #expect(try run("/usr/bin/flock", "-n", path(taken), "true") == 1, "\(taken)")
            #expect(throws: StoreFailure.self) { try SQLiteStore(path: path(taken)) }
        }
        try store.commit([.put(Records.presentity("sip:a@example.com"))])
    }

    @Test("a file of 0 octets is refused, and not taken for an empty store; one that is not there is made")
    func empty() throws {
        let scratch = try Scratch()
        try Data().write(to: URL(fileURLWithPath: scratch.path))
        let failure = #expect(throws: StoreFailure.self) { try SQLiteStore(path: scratch.path) }
        #expect(failure?.description.contains("has no octets") == true)
        #expect(throws: StoreFailure.self) { try SQLiteStore.check(path: scratch.path) }
        try FileManager.default.removeItem(atPath: scratch.path)
        #expect(throws: Never.self) { try SQLiteStore.check(path: scratch.path) }
        let store = try SQLiteStore(path: scratch.path)
        #expect(try store.load().isEmpty)
    }

    @Test("all files of a store can be read by their owner alone, those of an older store too")
    func modes() throws {
        let scratch = try Scratch()
        let names = ["isthmus.db", "isthmus.db-wal", "isthmus.db-shm", "isthmus.db.lock"]
        func modes() throws -> [String: Int] {
            try Dictionary(
                uniqueKeysWithValues: FileManager.default.contentsOfDirectory(atPath: scratch.directory.path).map { name in
                    let path = scratch.directory.appendingPathComponent(name).path
                    return (name, try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? 0)
                })
        }
        let mask = umask(0)
        defer { umask(mask) }
        do {
            let store = try SQLiteStore(path: scratch.path)
            try store.commit([.put(Records.presentity("sip:a@example.com"))])
            #expect(try modes() == Dictionary(uniqueKeysWithValues: names.map { ($0, 0o600) }))
            for name in names { chmod(scratch.directory.appendingPathComponent(name).path, 0o644) }
            // As kill -9 leaves them: with the log of the database beside it.
            let copy = scratch.directory.appendingPathComponent("copy").path
            try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
            for name in names {
                try FileManager.default.copyItem(atPath: scratch.directory.appendingPathComponent(name).path, toPath: "\(copy)/\(name)")
            }
            let old = try SQLiteStore(path: "\(copy)/isthmus.db")
            #expect(try old.load().count == 1)
            for name in names {
                #expect(try FileManager.default.attributesOfItem(atPath: "\(copy)/\(name)")[.posixPermissions] as? Int == 0o600, "\(name)")
            }
        }
    }

    @Test("a newer schema, another program's database, a file that is none, and a place that cannot be written are refused and named")
    func refusals() throws {
        let scratch = try Scratch()
        func write(_ sql: String) throws {
            try? FileManager.default.removeItem(atPath: scratch.path)
            try DatabaseQueue(path: scratch.path).write { try $0.execute(sql: sql) }
        }
        func refusal(_ path: String) -> String {
            let opened = #expect(throws: StoreFailure.self) { try SQLiteStore(path: path) }
            let checked = #expect(throws: StoreFailure.self) { try SQLiteStore.check(path: path) }
            #expect(checked?.description.contains(path) == true)
            return opened?.description ?? ""
        }
        try write("PRAGMA application_id = 1230197832; PRAGMA user_version = 99; CREATE TABLE presentity (user TEXT)")
        #expect(refusal(scratch.path).contains("schema version 99"))
        try write("CREATE TABLE something (name TEXT)")
        #expect(refusal(scratch.path).contains("another program"))
        try Data(repeating: 0x2A, count: 8_192).write(to: URL(fileURLWithPath: scratch.path))
        #expect(refusal(scratch.path).contains("not a database"))
        #expect(refusal("/proc/isthmus.db").contains("cannot be made"))
        #expect(throws: Never.self) { try SQLiteStore.check(path: scratch.directory.appendingPathComponent("new.db").path) }
    }

    @Test("a damaged file throws when it is read, and is not taken for an empty one")
    func damaged() throws {
        let scratch = try Scratch()
        do {
            let store = try SQLiteStore(path: scratch.path)
            try store.commit((0..<200).map { .put(Records.dialog("d\($0)", resources: 3)) })
        }
        try DatabaseQueue(path: scratch.path).writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: scratch.path))
        let size = try file.seekToEnd()
        for page in stride(from: UInt64(8_192), to: size, by: 4_096) {
            try file.seek(toOffset: page)
            try file.write(contentsOf: Data(repeating: 0xA5, count: 2_048))
        }
        try file.close()
        #expect(throws: StoreFailure.self) { _ = try SQLiteStore(path: scratch.path).load() }
    }

    @Test("a column of the wrong kind is damage, and is named")
    func wrongColumn() throws {
        let scratch = try Scratch()
        let store = try SQLiteStore(path: scratch.path)
        try store.commit([.put(Records.publication("sip:a@example.com", "t"))])
        try DatabaseQueue(path: scratch.path).write { try $0.execute(sql: "UPDATE publication SET expiry = 'soon'") }
        let failure = #expect(throws: StoreFailure.self) { try store.load() }
        #expect(failure?.description.contains("publication.expiry") == true)
    }
}
