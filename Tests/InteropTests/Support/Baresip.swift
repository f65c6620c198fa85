import Foundation

/// baresip without a user interface, as a SIMPLE client that watches one presentity through an outbound proxy.
///
/// Its library refuses loopback addresses, so it uses the host's first other IPv4 address; packets to it still stay on the machine.
final class Baresip: Sendable {
    private let process: ChildProcess
    private let control: Int

    /// First IPv4 address of the host besides loopback; nil when there is none.
    static let address: String? = {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return nil }
        defer { freeifaddrs(list) }
        var next = list
        while let entry = next {
            defer { next = entry.pointee.ifa_next }
            let flags = Int32(bitPattern: entry.pointee.ifa_flags)
            guard let address = entry.pointee.ifa_addr, Int32(address.pointee.sa_family) == AF_INET,
                flags & Int32(IFF_UP) != 0, flags & Int32(IFF_LOOPBACK) == 0
            else { continue }
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            guard
                getnameinfo(address, socklen_t(MemoryLayout<sockaddr_in>.size), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
            else { continue }
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        return nil
    }()

    /// - Parameters:
    ///   - user: URI such as `sip:carol@example.com`; the sign-in name is its user part.
    ///   - password: Password; nil disables sign-in.
    init(
        host: String, user: String, password: String? = nil, watching presentity: String, proxyPort: Int, in scratch: ScratchDirectory
    ) throws {
        let program = try PeerPrograms.baresip.required(package: "baresip-core")
        control = try Loopback.freePort()
        let directory = scratch.file("baresip")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        var text = try String(contentsOf: PeerPrograms.files.appendingPathComponent("baresip/config"), encoding: .utf8)
        for (name, value) in [("HOST", host), ("MODULES", "/usr/lib/baresip/modules"), ("CONTROL", "\(control)")] {
            text = text.replacingOccurrences(of: "@\(name)@", with: value)
        }
        try scratch.write(text, to: "baresip/config")
        let name = user.dropFirst(4).prefix { $0 != "@" }
        let credentials = password.map { ";auth_user=\(name);auth_pass=\($0)" } ?? ""
        try scratch.write(
            "<\(user)>\(credentials);outbound=\"sip:\(host):\(proxyPort);transport=udp\";regint=0\n", to: "baresip/accounts")
        try scratch.write("\"Watched\" <\(presentity)>;presence=p2p\n", to: "baresip/contacts")
        process = try ChildProcess(program, ["-f", directory.path, "-s"], in: scratch.url, name: "baresip-run")
    }

    /// Output of `contacts`, such as `Online Watched <sip:...>`.
    func contacts() -> String {
        guard let socket = try? LoopbackSocket(.stream, port: control) else { return "" }
        let command = "{\"command\":\"contacts\"}"
        socket.send(Array("\(command.utf8.count):\(command),".utf8))
        return socket.receive(until: "Watched", atMost: 1000)
    }

    var trace: String { process.outputText + process.errorText }

    func stop() async { await process.stop() }
}
