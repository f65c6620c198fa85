import Foundation

/// sngrep without its user interface, as a capture server: it receives HEP and stores the messages.
final class Sngrep: Sendable {
    let port: Int
    private let process: ChildProcess
    private let file: URL
    private let scratch: ScratchDirectory

    /// Starts it and returns when it listens.
    init(in scratch: ScratchDirectory) async throws {
        let program = try PeerPrograms.sngrep.required(package: "sngrep")
        port = try Loopback.freePort()
        file = scratch.file("flows.pcap")
        self.scratch = scratch
        process = try ChildProcess(
            program, ["-F", "-N", "-q", "-L", "udp:127.0.0.1:\(port)", "-O", file.path], in: scratch.url, name: "sngrep")
        // /proc writes local addresses as `0100007F:PORT`.
        let place = "0100007F:" + String(format: "%04X", port)
        guard await eventually(within: 10, { (try? String(contentsOfFile: "/proc/net/udp", encoding: .utf8))?.contains(place) == true })
        else { throw PeerError(description: "sngrep does not listen: \(account)") }
    }

    /// Ends the capture and returns the CSeq of every stored message by Call-ID, in order, as read by another decoder.
    func flows(ports: [Int]) async throws -> [String: [String]] {
        await process.stop(signal: SIGINT)
        let program = try PeerPrograms.tshark.required(package: "tshark")
        var arguments = ["-n", "-r", file.path, "-Y", "sip", "-T", "fields", "-e", "sip.Call-ID", "-e", "sip.CSeq"]
        for port in ports { arguments += ["-d", "udp.port==\(port),sip", "-d", "tcp.port==\(port),sip"] }
        let reader = try ChildProcess(program, arguments, in: scratch.url, name: "tshark-flows")
        guard await reader.exit(within: 60) == 0 else { throw PeerError(description: "tshark: \(reader.errorText)") }
        var flows: [String: [String]] = [:]
        for line in reader.outputText.split(separator: "\n") {
            let fields = line.split(separator: "\t").map(String.init)
            if fields.count == 2 { flows[fields[0], default: []].append(fields[1]) }
        }
        return flows
    }

    var account: String { process.outputText + process.errorText }
}
