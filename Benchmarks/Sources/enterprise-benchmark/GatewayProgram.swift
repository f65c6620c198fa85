import Glibc
import Measurement

/// `isthmus serve` as a child process with a configuration of its own, in a directory of its own.
final class GatewayProgram {
    private let child: ChildProgram
    let port: Int

    var process: pid_t { child.process }
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
        guard let child = ChildProgram(program, ["serve", "--config", path], awaitsGreeting: true) else { return nil }
        self.child = child
        let ready = child.greeting
        guard let word = ready.split(separator: " ").first(where: { $0.hasPrefix("tcp:") }), let last = word.split(separator: ":").last,
            let number = Int(last)
        else {
            print("enterprise-benchmark: isthmus says '\(ready)'")
            return nil
        }
        port = number
    }

    func stop() {
        child.stop()
        for name in ["isthmus.yaml", "isthmus.db", "isthmus.db-wal", "isthmus.db-shm", "isthmus.db.lock"] { unlink(directory + "/" + name) }
        rmdir(directory)
    }
}
