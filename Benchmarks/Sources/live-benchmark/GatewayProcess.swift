import GatewaySetup
import Glibc
import LiveLoad
import Measurement
import Logging
import PresenceGateway
@_spi(TokenSource) import SIPCore
import SIPTransport

/// Gateway process that is measured.
struct GatewayProcess: MeasuredPeer {
    let process: pid_t
    let tcp: Int
    let udp: Int
    private let input: Int32

    /// Serves one shard until standard input ends.
    static func serve(remotePort: Int) async {
        var logger = Logger(label: "benchmark")
        logger.logLevel = .error
        do {
            let server = try await SIPServer.start(
                listening: [TransportAddress(.tcp, "127.0.0.1", 0), TransportAddress(.udp, "127.0.0.1", 0)], logger: logger,
                afterTick: { endpoint, _ in keep((endpoint as? Gateway)?.takeLogs()) },
                makeEndpoint: { context in
                    Gateway(
                        configuration: .benchmark(
                            listeners: context.listeners, remoteAddress: TransportAddress(.tcp, "127.0.0.1", remotePort)),
                        key: TokenKey(7, 0, 0, 0))
                })
            var line = server.listeners.map { String($0.port) }.joined(separator: " ")
            line += "\n"
            _ = line.withCString { write(1, $0, strlen($0)) }
            var byte: UInt8 = 0
            while read(0, &byte, 1) > 0 {}
            await server.stop()
        } catch {
            print("live-benchmark: \(error)")
            exit(1)
        }
    }

    /// Starts this program as a gateway in a child process.
    static func start(remotePort: Int) -> GatewayProcess? {
        var toChild: [Int32] = [0, 0]
        var fromChild: [Int32] = [0, 0]
        guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else { return nil }
        // The child must not inherit the writing end of its own input, nor those of other children.
        for descriptor in [toChild[1], fromChild[0]] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
        posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
        var arguments: [UnsafeMutablePointer<CChar>?] = ["live-benchmark", "serve", String(remotePort)].map { (text: String) in strdup(text)
        }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        var process = pid_t()
        guard posix_spawn(&process, "/proc/self/exe", &actions, nil, arguments, environ) == 0 else { return nil }
        close(toChild[0])
        close(fromChild[1])
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(fromChild[0], &byte, 1) == 1, byte != 0x0A { line.append(byte) }
        close(fromChild[0])
        let ports = String(decoding: line, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
        guard ports.count == 2 else { return nil }
        return GatewayProcess(process: process, tcp: ports[0], udp: ports[1], input: toChild[1])
    }

    var spent: UInt64 { processorTime(of: process) ?? 0 }

    func stop() {
        close(input)
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }
}
