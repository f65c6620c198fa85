import Foundation

/// A PostgreSQL server with one database, on one free port of 127.0.0.1, with its data in the test's own directory.
final class PostgreSQL {
    static let user = "presence"

    let port: Int
    private let scratch: ScratchDirectory
    private let binaries: URL
    private let process: ChildProcess

    var url: String { "postgres://\(Self.user)@127.0.0.1:\(port)/postgres" }

    init(in scratch: ScratchDirectory) async throws {
        self.scratch = scratch
        binaries = try PeerPrograms.postgres.required(package: "postgresql").deletingLastPathComponent()
        port = try Loopback.freePort()
        let home = scratch.file("postgresql")
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        // The server refuses to run as root.
        if geteuid() == 0 {
            try FileManager.default.setAttributes([.ownerAccountName: "postgres"], ofItemAtPath: home.path)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: scratch.url.path)
        }
        let data = home.appendingPathComponent("data").path
        let make = try Self.start(
            binaries, "initdb", ["-D", data, "-A", "trust", "-U", Self.user, "--no-locale", "-E", "UTF8"], scratch, name: "initdb")
        guard await make.exit(within: 60) == 0 else { throw PeerError(description: "initdb: \(make.errorText.suffix(1000))") }
        process = try Self.start(
            binaries, "postgres",
            ["-D", data, "-p", "\(port)", "-k", home.path, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"], scratch, name: "postgres"
        )
        let isReady = await eventually(within: 30) {
            process.errorText.contains("ready to accept connections") || !process.isRunning
        }
        guard isReady, process.isRunning else { throw PeerError(description: "postgres: \(process.errorText.suffix(1000))") }
    }

    private static func start(
        _ binaries: URL, _ program: String, _ arguments: [String], _ scratch: ScratchDirectory, name: String
    ) throws -> ChildProcess {
        let path = binaries.appendingPathComponent(program)
        guard geteuid() == 0 else { return try ChildProcess(path, arguments, in: scratch.url, name: name) }
        return try ChildProcess(
            URL(fileURLWithPath: "/usr/bin/setpriv"), ["--reuid=postgres", "--regid=postgres", "--init-groups", path.path] + arguments,
            in: scratch.url, name: name)
    }

    /// Runs a file of SQL.
    func run(_ file: URL) async throws {
        let run = try ChildProcess(
            binaries.appendingPathComponent("psql"),
            ["-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", "\(port)", "-U", Self.user, "-d", "postgres", "-f", file.path],
            in: scratch.url, name: "psql-\(file.lastPathComponent)")
        guard await run.exit(within: 60) == 0 else { throw PeerError(description: "psql: \(run.errorText.suffix(1000))") }
    }

    /// Fast shutdown, without waiting for clients.
    func stop() async { await process.stop(signal: SIGINT) }
}
