import Glibc

/// User and system time of this process, all threads, in nanoseconds.
public func processorTime() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// User and system time of another process in nanoseconds, by its clock; nil when it is gone.
public func processorTime(of process: pid_t) -> UInt64? {
    var clock = clockid_t()
    guard clock_getcpuclockid(process, &clock) == 0 else { return nil }
    var time = timespec()
    guard clock_gettime(clock, &time) == 0 else { return nil }
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// The proportional set size of a process in octets; 0 when it cannot be read.
public func memory(of process: pid_t) -> Int {
    guard let file = fopen("/proc/\(process)/smaps_rollup", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, 256, file) != nil {
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard text.hasPrefix("Pss:") else { continue }
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1_024
    }
    return 0
}

/// A program as a child of this one, with a directory of its own that goes when it ends.
public final class ChildProgram {
    public let process: pid_t
    /// The first line that it wrote to standard output; empty unless asked for.
    public let greeting: String

    /// - Parameter awaitsGreeting: waits for a line on standard output, which is thrown away otherwise; so is standard error always.
    public init?(_ program: String, _ arguments: [String], awaitsGreeting: Bool) {
        var output: [Int32] = [0, 0]
        guard pipe(&output) == 0 else { return nil }
        for descriptor in output { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        if awaitsGreeting {
            posix_spawn_file_actions_adddup2(&actions, output[1], 1)
        } else {
            posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        }
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { (text: String) in strdup(text) } + [nil]
        defer { for word in words { free(word) } }
        var child = pid_t()
        guard posix_spawn(&child, program, &actions, nil, &words, environ) == 0 else { return nil }
        process = child
        close(output[1])
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while awaitsGreeting, read(output[0], &byte, 1) == 1, byte != 0x0A { line.append(byte) }
        close(output[0])
        greeting = String(decoding: line, as: UTF8.self)
    }

    /// SIGTERM, and the end of it.
    public func stop() {
        kill(process, SIGTERM)
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }
}

/// Keeps the optimiser from dropping a result.
@inline(never)
public func keep<Value>(_ value: Value) {}
