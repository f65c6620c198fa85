import Glibc

/// `isthmus serve` as a child process, with its files in a directory of its own that goes when it ends.
public final class IsthmusProgram {
    private let child: ChildProgram
    private let directory: PeerDirectory
    /// Where it listens, over TCP on loopback.
    public let port: Int
    /// Where it listens over UDP on loopback.
    public let datagramPort: Int

    public var process: pid_t { child.process }

    /// Starts it and waits until it is ready; nil when it does not get ready, which is printed.
    /// - Parameters:
    ///   - arguments: besides the configuration.
    ///   - settings: the lines of the configuration besides `node` and `listen`; gets the directory for what else is to be kept.
    public init?(_ program: String, arguments: [String] = [], settings: (_ directory: String) -> String) {
        guard let directory = PeerDirectory() else { return nil }
        let text = """
            node: { name: edge1.example.net }
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
