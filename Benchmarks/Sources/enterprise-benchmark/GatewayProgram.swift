import Glibc

/// `isthmus serve` as a child process with a configuration of its own, in a directory of its own.
final class GatewayProgram {
    let process: pid_t
    let port: Int
    private let directory: String

    /// - Parameter store: keep everything in SQLite, as an operator would; otherwise in memory.
    init?(_ program: String, store: Bool) {
        var template = Array("/tmp/isthmus-benchmark-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { return nil }
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let text = """
            node: { name: edge1.example.net }
            timing: { notify-spacing-ms: 0 }
            listen: [ { address: "tcp:127.0.0.1:0", authentication: none } ]
            domains:
              contoso.com: { side: enterprise, hosted: true }
            \(store ? "store: { sqlite: \(directory)/isthmus.db }" : "")

            """
        let path = directory + "/isthmus.yaml"
        guard let file = fopen(path, "w") else { return nil }
        fputs(text, file)
        fclose(file)
        var output: [Int32] = [0, 0]
        guard pipe(&output) == 0 else { return nil }
        _ = fcntl(output[0], F_SETFD, FD_CLOEXEC)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, output[1], 1)
        // Its log would drown the tables; what went wrong is counted here.
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var arguments: [UnsafeMutablePointer<CChar>?] = [program, "serve", "--config", path].map { (text: String) in strdup(text) }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        var child = pid_t()
        guard posix_spawn(&child, program, &actions, nil, arguments, environ) == 0 else { return nil }
        process = child
        close(output[1])
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(output[0], &byte, 1) == 1, byte != 0x0A { line.append(byte) }
        let ready = String(decoding: line, as: UTF8.self)
        guard let word = ready.split(separator: " ").first(where: { $0.hasPrefix("tcp:") }), let last = word.split(separator: ":").last,
            let number = Int(last)
        else {
            print("enterprise-benchmark: isthmus says '\(ready)'")
            return nil
        }
        port = number
    }

    func stop() {
        kill(process, SIGTERM)
        var status: Int32 = 0
        waitpid(process, &status, 0)
        for name in ["isthmus.yaml", "isthmus.db", "isthmus.db-wal", "isthmus.db-shm", "isthmus.db.lock"] { unlink(directory + "/" + name) }
        rmdir(directory)
    }
}
