import Foundation

/// Capture of some loopback ports, checked afterwards by an independent decoder.
final class Tshark: Sendable {
    struct Verdict: Sendable {
        /// Frames that hold SIP.
        var messages: Int
        /// Frames with a malformed packet or an expert mark of grade error, as tshark prints them.
        var faults: [String]
        /// The SIP request methods seen, in order.
        var methods: [String]
    }

    private let process: ChildProcess
    private let file: URL
    private let ports: [Int]
    private let probe: Int
    private let scratch: ScratchDirectory

    init(ports: [Int], in scratch: ScratchDirectory, interface: String = "lo") async throws {
        let program = try PeerPrograms.tshark.required(package: "tshark")
        probe = try Loopback.freePort()
        self.ports = ports
        self.scratch = scratch
        file = scratch.file("capture.pcap")
        let filter = (ports + [probe]).map { "port \($0)" }.joined(separator: " or ")
        process = try ChildProcess(
            program, ["-q", "-n", "-i", interface, "-f", filter, "-w", file.path, "-F", "pcap", "-a", "duration:180"], in: scratch.url,
            name: "tshark-capture")
        guard try await mark("capture-begins") else { throw PeerError(description: "tshark captures nothing: \(process.errorText)") }
    }

    /// Sends datagrams with this text to an unused port until one appears in the file: earlier packets are then in the file too.
    private func mark(_ text: String) async throws -> Bool {
        let marker = Array("\(text)-\(probe)".utf8)
        let socket = try LoopbackSocket(.datagram, port: 0)
        return await eventually(within: 20) {
            socket.send(marker, to: probe)
            return (try? Data(contentsOf: file).firstRange(of: marker)) != nil
        }
    }

    /// Ends the capture and checks it.
    func verdict() async throws -> Verdict {
        guard try await mark("capture-ends") else { throw PeerError(description: "tshark stopped: \(process.errorText)") }
        await process.stop(signal: SIGINT)
        let methods = try await decode("sip", fields: ["sip.Method"], name: "messages")
        let faults = try await decode(
            "_ws.malformed || ((sip || xml || mime_multipart) && _ws.expert.severity == error)",
            fields: ["frame.number", "_ws.col.Info", "_ws.expert.message"], name: "faults")
        return Verdict(messages: methods.count, faults: faults, methods: methods.filter { !$0.isEmpty })
    }

    private func decode(_ filter: String, fields: [String], name: String) async throws -> [String] {
        let program = try PeerPrograms.tshark.required(package: "tshark")
        // The marks are no SIP, and the unused port may be one that tshark knows as that of another protocol.
        var arguments = ["-n", "-r", file.path, "-Y", "!(udp.port == \(probe)) && (\(filter))", "-T", "fields"]
        for port in ports { arguments += ["-d", "udp.port==\(port),sip", "-d", "tcp.port==\(port),sip"] }
        for field in fields { arguments += ["-e", field] }
        let reader = try ChildProcess(program, arguments, in: scratch.url, name: "tshark-\(name)")
        guard await reader.exit(within: 60) == 0 else { throw PeerError(description: "tshark: \(reader.errorText)") }
        return reader.outputText.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    func stop() async { await process.stop(signal: SIGINT) }
}
