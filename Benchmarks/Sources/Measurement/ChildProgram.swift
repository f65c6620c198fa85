import Glibc

/// Child process; ends with this process, also when that is killed.
public final class ChildProgram {
    public let process: pid_t
    /// First line of its standard output; empty unless requested.
    public let greeting: String

    /// - Parameters:
    ///   - prefix: Program with its arguments that runs `program` in its own place, such as `env`.
    ///   - awaitsGreeting: Whether to wait for a line on standard output, which is otherwise discarded; standard error always is.
    public init?(_ program: String, _ arguments: [String], prefix: [String] = [], awaitsGreeting: Bool) {
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
        let command = ["/usr/bin/setpriv", "--pdeathsig", "TERM"] + prefix + [program] + arguments
        var words: [UnsafeMutablePointer<CChar>?] = command.map { (text: String) in strdup(text) } + [nil]
        defer { for word in words { free(word) } }
        var child = pid_t()
        guard posix_spawn(&child, command[0], &actions, nil, &words, environ) == 0 else { return nil }
        process = child
        close(output[1])
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while awaitsGreeting, read(output[0], &byte, 1) == 1, byte != 0x0A { line.append(byte) }
        close(output[0])
        greeting = String(decoding: line, as: UTF8.self)
    }

    /// Sends a signal and waits for its end.
    public func stop(with signal: Int32 = SIGTERM) {
        kill(process, signal)
        wait()
    }

    /// Waits for its end.
    public func wait() {
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }
}
