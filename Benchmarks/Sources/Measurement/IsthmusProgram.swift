import Glibc

/// `isthmus serve` as a child process, with its files in a temporary directory.
public final class IsthmusProgram {
    private var child: ChildProgram
    private let directory: PeerDirectory
    private let start: (_ port: Int, _ datagramPort: Int) -> (child: ChildProgram, port: Int, datagramPort: Int)?
    /// TCP port on loopback.
    public let port: Int
    /// UDP port on loopback.
    public let datagramPort: Int

    public var process: pid_t { child.process }

    /// Starts it and waits until it is ready; nil, with a printed message, when it does not become ready.
    /// - Parameters:
    ///   - arguments: Arguments besides the configuration.
    ///   - prefix: Program with its arguments that runs it in its own place, such as `env`.
    ///   - shards: Number of event loops.
    ///   - settings: Lines of the configuration besides `node` and `listen`; its argument is the directory for other files.
    public init?(
        _ program: String, arguments: [String] = [], prefix: [String] = [], shards: Int = 1, settings: (_ directory: String) -> String
    ) {
        guard let directory = PeerDirectory() else { return nil }
        let lines = settings(directory.path)
        start = { port, datagramPort in
            let text = """
                node: { name: edge1.example.net, shards: \(shards) }
                listen:
                  - { address: "tcp:127.0.0.1:\(port)", authentication: none }
                  - { address: "udp:127.0.0.1:\(datagramPort)", authentication: none }
                \(lines)

                """
            guard let file = directory.write(text, to: "isthmus.yaml"),
                let child = ChildProgram(program, ["serve", "--config", file] + arguments, prefix: prefix, awaitsGreeting: true)
            else { return nil }
            func place(of transport: String) -> Int? {
                let address = child.greeting.split(separator: " ").first { $0.hasPrefix(transport + ":") }
                return address?.split(separator: ":").last.flatMap { Int($0) }
            }
            guard let port = place(of: "tcp"), let datagramPort = place(of: "udp") else {
                print("isthmus is not ready: '\(child.greeting)'")
                child.stop()
                return nil
            }
            return (child, port, datagramPort)
        }
        guard let started = start(0, 0) else {
            directory.remove()
            return nil
        }
        (child, port, datagramPort) = started
        self.directory = directory
    }

    /// Ends it with SIGKILL, starts it again with the same files and ports, and waits until it is ready; false when it does not become ready.
    public func killAndRestart() -> Bool {
        child.stop(with: SIGKILL)
        guard let started = start(port, datagramPort) else { return false }
        child = started.child
        return true
    }

    /// Ends it and removes its files.
    public func stop(with signal: Int32 = SIGTERM) {
        child.stop(with: signal)
        directory.remove()
    }
}
