import Foundation

/// OpenSSL's client: one TLS connection with a given certificate that sends a given text unchanged.
final class SecureLine: Sendable {
    private let process: ChildProcess

    /// - Parameters:
    ///   - name: Name of the client certificate; nil for none.
    ///   - text: Text sent after the handshake.
    init(
        to port: Int, as name: String?, of certificates: PartnerCertificates, saying text: String, named file: String,
        in scratch: ScratchDirectory
    ) throws {
        let words = try scratch.write(text, to: "\(file).txt")
        var command = "exec openssl s_client -ign_eof -connect 127.0.0.1:\(port) -CAfile '\(certificates.roots.path)'"
        if let name { command += " -cert '\(certificates.certificate(name).path)' -key '\(certificates.key(name).path)'" }
        process = try ChildProcess(
            URL(fileURLWithPath: "/bin/sh"), ["-c", "\(command) <'\(words.path)'"], in: scratch.url, name: file)
    }

    /// All output, including that of the handshake.
    var text: String { process.outputText }

    /// Error output of OpenSSL, including alerts.
    var errors: String { process.errorText }

    /// Status codes of the responses, in order.
    var statuses: [Int] {
        // The first response may follow the handshake's output without a new line.
        text.components(separatedBy: "SIP/2.0 ").dropFirst().compactMap { Int($0.prefix(3)) }
    }

    /// Whether the other side closed the connection.
    var isOver: Bool { !process.isRunning }

    func stop() async { await process.stop(signal: SIGKILL) }
}
