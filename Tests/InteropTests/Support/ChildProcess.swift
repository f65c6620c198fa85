import Foundation
import Synchronization

/// A program that a test starts, watches through files and always ends, by its own process id and no other.
///
/// It leads a process group of its own, so that what it forks ends with it; with a terminal it leads a session, too.
final class ChildProcess: Sendable {
    let name: String
    let output: URL
    let errors: URL
    let processID: pid_t
    private let ended = Mutex<Int32?>(nil)

    /// - Parameter terminal: where standard input comes from and standard output goes to, in place of nothing and a file.
    init(
        _ executable: URL, _ arguments: [String], in directory: URL, name: String, environment: [String: String] = [:],
        terminal: PseudoTerminal? = nil
    ) throws {
        self.name = name
        output = directory.appendingPathComponent("\(name).out")
        errors = directory.appendingPathComponent("\(name).err")
        var files = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&files)
        defer { posix_spawn_file_actions_destroy(&files) }
        if let terminal {
            for descriptor in [Int32(0), 1] { posix_spawn_file_actions_addopen(&files, descriptor, terminal.device, O_RDWR, 0) }
        } else {
            posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_addopen(&files, 1, output.path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        }
        posix_spawn_file_actions_addopen(&files, 2, errors.path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The test runner's threads may block or ignore the signals that are to end the child.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        // A session has a process group of its own. glibc keeps the name POSIX_SPAWN_SETSID for those who ask for GNU extensions.
        let leads = terminal == nil ? Int(POSIX_SPAWN_SETPGROUP) : 0x80
        posix_spawnattr_setflags(&attributes, Int16(leads | Int(POSIX_SPAWN_SETSIGMASK) | Int(POSIX_SPAWN_SETSIGDEF)))
        if terminal == nil { posix_spawnattr_setpgroup(&attributes, 0) }
        var words: [UnsafeMutablePointer<CChar>?] = ([executable.path] + arguments).map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] =
            ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for word in words + variables { free(word) } }
        var child: pid_t = 0
        let failure = posix_spawn(&child, executable.path, &files, &attributes, &words, &variables)
        guard failure == 0 else { throw PeerError(description: "\(executable.path) does not start: error \(failure)") }
        processID = child
    }

    deinit {
        if isRunning {
            kill(-processID, SIGKILL)
            waitpid(processID, nil, 0)
        }
    }

    /// The exit code, 128 and the signal when one ended it, or nil while it runs.
    var exitCode: Int32? {
        ended.withLock { ended in
            if let ended { return ended }
            var status: Int32 = 0
            guard waitpid(processID, &status, WNOHANG) == processID else { return nil }
            ended = status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
            return ended
        }
    }

    var isRunning: Bool { exitCode == nil }
    var outputText: String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }
    var errorText: String { (try? String(contentsOf: errors, encoding: .utf8)) ?? "" }

    func send(signal: Int32) {
        if isRunning { kill(processID, signal) }
    }

    /// The same to what it forked.
    func sendToAll(signal: Int32) {
        if isRunning { kill(-processID, signal) }
    }

    /// Asks it to end, and forces it when it has not done so in time; returns the exit code of an orderly end.
    @discardableResult
    func stop(signal: Int32 = SIGTERM, within seconds: Double = 8) async -> Int32? {
        send(signal: signal)
        if await eventually(within: seconds, { !self.isRunning }) { return exitCode }
        if isRunning { kill(-processID, SIGKILL) }
        _ = await eventually(within: 2) { !self.isRunning }
        return nil
    }

    /// The exit code once it ends by itself; nil when it does not in time, and then it is killed.
    func exit(within seconds: Double) async -> Int32? {
        if await eventually(within: seconds, { !self.isRunning }) { return exitCode }
        if isRunning { kill(-processID, SIGKILL) }
        _ = await eventually(within: 2) { !self.isRunning }
        return nil
    }
}

/// Looks again and again until the condition holds, at most for the given time; says whether it held.
func eventually(within seconds: Double, _ condition: () throws -> Bool) async rethrows -> Bool {
    let end = ContinuousClock.now + .milliseconds(Int(seconds * 1000))
    while true {
        if try condition() { return true }
        if ContinuousClock.now >= end { return false }
        try? await Task.sleep(for: .milliseconds(20))
    }
}

/// A directory of its own for one test, removed when the test passes on the value.
struct ScratchDirectory {
    let url: URL

    init(_ name: String) throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-\(name)-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    /// One that goes with another.
    init(_ name: String, inside other: ScratchDirectory) throws {
        url = other.file(name)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    @discardableResult
    func write(_ text: String, to name: String) throws -> URL {
        try Data(text.utf8).write(to: file(name))
        return file(name)
    }

    func remove() { try? FileManager.default.removeItem(at: url) }
}
