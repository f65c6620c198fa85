import Glibc

/// Child process that answers each line of its standard input with one line.
public final class AnsweringProgram {
    private let process: pid_t
    private let questions: Int32
    private let answers: Int32
    private var rest: [UInt8] = []

    public init?(_ program: String, _ arguments: [String]) {
        var (input, output): ([Int32], [Int32]) = ([0, 0], [0, 0])
        guard pipe(&input) == 0, pipe(&output) == 0 else { return nil }
        for descriptor in input + output { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input[0], 0)
        posix_spawn_file_actions_adddup2(&actions, output[1], 1)
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { (text: String) in strdup(text) } + [nil]
        defer { for word in words { free(word) } }
        var child = pid_t()
        guard posix_spawn(&child, program, &actions, nil, &words, environ) == 0 else { return nil }
        close(input[0])
        close(output[1])
        (process, questions, answers) = (child, input[1], output[0])
        // A child that has ended is noticed by its missing answer.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Sends a line and waits for the answer; nil when the child has ended.
    public func ask(_ question: String) -> String? {
        let line = Array((question + "\n").utf8)
        guard write(questions, line, line.count) == line.count else { return nil }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            if let end = rest.firstIndex(of: 0x0A) {
                defer { rest.removeSubrange(...end) }
                return String(decoding: rest[..<end], as: UTF8.self)
            }
            let count = read(answers, &buffer, buffer.count)
            guard count > 0 else { return nil }
            rest += buffer[..<count]
        }
    }

    /// Ends its input and waits for its end.
    public func stop() {
        close(questions)
        close(answers)
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }
}
