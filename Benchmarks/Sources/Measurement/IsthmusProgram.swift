import Glibc

/// `isthmus serve` as a child process, with its files in a temporary directory.
public final class IsthmusProgram {
    private let child: ChildProgram
    private let directory: PeerDirectory
    /// TCP port on loopback.
    public let port: Int
    /// UDP port on loopback.
    public let datagramPort: Int

    public var process: pid_t { child.process }

    /// Starts it and waits until it is ready; nil, with a printed message, when it does not become ready.
    /// - Parameters:
    ///   - arguments: Arguments besides the configuration.
    ///   - shards: Number of event loops.
    ///   - settings: Lines of the configuration besides `node` and `listen`; its argument is the directory for other files.
    public init?(_ program: String, arguments: [String] = [], shards: Int = 1, settings: (_ directory: String) -> String) {
        guard let directory = PeerDirectory() else { return nil }
        let text = """
            node: { name: edge1.example.net, shards: \(shards) }
            listen: [ { address: "tcp:127.0.0.1:0", authentication: none }, { address: "udp:127.0.0.1:0", authentication: none } ]
            \(settings(directory.path))

            """
        guard let file = directory.write(text, to: "isthmus.yaml"),
            let child = ChildProgram(program, ["serve", "--config", file] + arguments, awaitsGreeting: true)
        else {
            directory.remove()
            return nil
        }
        func place(of transport: String) -> Int? {
            let address = child.greeting.split(separator: " ").first { $0.hasPrefix(transport + ":") }
            return address?.split(separator: ":").last.flatMap { Int($0) }
        }
        guard let port = place(of: "tcp"), let datagramPort = place(of: "udp") else {
            print("isthmus is not ready: '\(child.greeting)'")
            child.stop()
            directory.remove()
            return nil
        }
        (self.child, self.directory, self.port, self.datagramPort) = (child, directory, port, datagramPort)
    }

    public func stop() {
        child.stop()
        directory.remove()
    }
}
