import Foundation

/// OpenSSL's own client: one TLS connection with the certificate that the test gives it, which says word for word what it is given.
final class SecureLine: Sendable {
    private let process: ChildProcess

    /// - Parameters:
    ///   - name: of the certificate with which it comes; nil: with none.
    ///   - text: what it says once it is connected.
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

    /// Whatever came back, what the handshake showed included.
    var text: String { process.outputText }

    /// What OpenSSL says of the end, alerts included.
    var errors: String { process.errorText }

    /// Statuses of the answers, in order.
    var statuses: [Int] {
        // The first one may follow what the handshake showed without a new line.
        text.components(separatedBy: "SIP/2.0 ").dropFirst().compactMap { Int($0.prefix(3)) }
    }

    /// Whether the other side has ended it.
    var isOver: Bool { !process.isRunning }

    func stop() async { await process.stop(signal: SIGKILL) }
}
