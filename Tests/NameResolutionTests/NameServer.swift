import Foundation
import Glibc
import NameResolution
import SIPCore

/// Debian's nsd on a free port of 127.0.0.1, with one zone; to be stopped by whoever started it.
final class NameServer {
    let port: Int
    private let process: Process
    private let folder: URL
    private var resolvers: [NameResolver] = []

    private init(port: Int, process: Process, folder: URL) {
        self.port = port
        self.process = process
        self.folder = folder
    }

    deinit { stop() }

    /// It is killed, since it was started with the signals of a worker thread blocked; its children end with it.
    func stop() {
        for resolver in resolvers { resolver.stop() }
        resolvers = []
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(at: folder)
    }

    /// A zone that it is to serve and cannot load: it answers SERVFAIL.
    static let brokenZone = "fabrikam.com"

    /// - Parameter records: the zone example.org besides its SOA and NS, as a zone file writes it.
    static func start(_ records: String) async throws -> NameServer {
        guard FileManager.default.isExecutableFile(atPath: "/usr/sbin/nsd") else {
            throw NameTestError(description: "nsd is not installed: scripts/install-packages test")
        }
        for _ in 0..<3 {
            let server = try launch(records)
            var options = NameResolverOptions()
            options.servers = ["127.0.0.1:\(server.port)"]
            options.timeout = .milliseconds(200)
            let resolver = try NameResolver(options: options)
            defer { resolver.stop() }
            for _ in 0..<100 where server.process.isRunning {
                if case .records = await resolver.answer(to: NameQuestion(.a, "ns.example.org")).outcome { return server }
                try await Task.sleep(for: .milliseconds(50))
            }
            // Somebody else may have taken the port in between.
        }
        throw NameTestError(description: "nsd does not start")
    }

    private static func launch(_ records: String) throws -> NameServer {
        let port = try SilentPort().number
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-nsd-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.path
        try """
        server:
          ip-address: 127.0.0.1@\(port)
          zonesdir: "\(path)"
          database: ""
          pidfile: "\(path)/nsd.pid"
          xfrdfile: "\(path)/xfrd.state"
          zonelistfile: "\(path)/zone.list"
          logfile: "\(path)/log"
          username: ""
          server-count: 1
          rrl-ratelimit: 0
        remote-control:
          control-enable: no
        zone:
          name: example.org
          zonefile: zone
        zone:
          name: \(brokenZone)
          zonefile: broken

        """.write(to: folder.appendingPathComponent("nsd.conf"), atomically: true, encoding: .utf8)
        let head = """
            $ORIGIN example.org.
            $TTL 300
            @ 3600 IN SOA ns hostmaster 1 3600 600 86400 120
            @ IN NS ns
            ns IN A 127.0.0.1

            """
        try (head + records + "\n").write(to: folder.appendingPathComponent("zone"), atomically: true, encoding: .utf8)
        // Without an SOA it is not loaded.
        try "this is no zone\n".write(to: folder.appendingPathComponent("broken"), atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/sbin/nsd")
        process.arguments = ["-d", "-c", path + "/nsd.conf"]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return NameServer(port: port, process: process, folder: folder)
    }

    /// One that asks this server, and stops with it.
    func resolver(before others: [String] = []) throws -> NameResolver {
        var options = NameResolverOptions()
        options.servers = others + ["127.0.0.1:\(port)"]
        options.timeout = .milliseconds(300)
        options.hostsFile = nil
        let resolver = try NameResolver(options: options)
        resolvers.append(resolver)
        return resolver
    }
}
