import Foundation

/// Debian's nsd on a free port of 127.0.0.1, with the zones of several companies.
final class Nsd: Sendable {
    let port: Int
    private let process: ChildProcess

    /// - Parameter zones: Records of each domain in zone-file form, besides SOA and NS.
    init(_ zones: [String: String], in scratch: ScratchDirectory) async throws {
        let program = try PeerPrograms.nsd.required(package: "nsd")
        port = try Loopback.freePort()
        let path = scratch.url.path
        var text = """
            server:
              ip-address: 127.0.0.1@\(port)
              zonesdir: "\(path)"
              database: ""
              pidfile: "\(path)/nsd.pid"
              xfrdfile: "\(path)/xfrd.state"
              zonelistfile: "\(path)/zone.list"
              username: ""
              server-count: 1
              rrl-ratelimit: 0
            remote-control:
              control-enable: no

            """
        for (name, records) in zones.sorted(by: { $0.key < $1.key }) {
            text += "zone:\n  name: \(name)\n  zonefile: \(name).zone\n"
            let head = "$ORIGIN \(name).\n$TTL 60\n@ IN SOA ns hostmaster 1 3600 600 86400 60\n@ IN NS ns\nns IN A 127.0.0.1\n"
            try scratch.write(head + records + "\n", to: "\(name).zone")
        }
        let configuration = try scratch.write(text, to: "nsd.conf")
        process = try ChildProcess(program, ["-d", "-c", configuration.path], in: scratch.url, name: "nsd")
        guard await answers(zones.keys.sorted().first ?? "") else {
            throw PeerError(description: "nsd does not answer: \(process.errorText)")
        }
    }

    /// Value of `dns:` for a gateway that queries only this server.
    var settings: String { "dns: { servers: [ \"127.0.0.1:\(port)\" ], timeout-ms: 1000, tries: 2, hosts: false }" }

    /// Queries the address of `ns.NAME` until there is an answer.
    private func answers(_ name: String) async -> Bool {
        guard let socket = try? LoopbackSocket(.datagram, port: 0) else { return false }
        var question: [UInt8] = [0x1D, 0x0E, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        for label in ["ns"] + name.split(separator: ".").map(String.init) { question += [UInt8(label.utf8.count)] + Array(label.utf8) }
        question += [0, 0, 1, 0, 1]
        return await eventually(within: 10) {
            socket.send(question, to: port)
            // A successful answer with at least one record.
            guard process.isRunning, let answer = socket.receive(atMost: 100), answer.count > 12 else { return false }
            return answer[3] & 0x0F == 0 && answer[7] > 0
        }
    }

    func stop() async { await process.stop(signal: SIGKILL) }
}
