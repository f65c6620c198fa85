import Foundation
import Testing

extension RealSockets {
    /// A real client that signs in by TLS-DSK. Its TLS is independent: pidgin-sipe implements the handshake itself on NSS, derives the keys
    /// by MS-SIPAE 3.2.5.1, and drops every message with an invalid signature.
    @Suite struct PidginSipeCertificateInteropTests {
        @Test("pidgin-sipe gets a certificate, signs in by TLS-DSK, publishes, and sees the other client; an unknown user stays out")
        func certificateSignIn() async throws {
            let scratch = try ScratchDirectory("tls-dsk")
            let certificates = try await CertificateService(in: scratch)
            let users = try scratch.write(
                "users:\n  \"sip:alice@contoso.com\": {}\n  \"sip:bob@contoso.com\": {}\n", to: "users.yaml")
            let gateway = try await IsthmusProgram(
                in: scratch, domains: ["contoso.com: { side: enterprise, hosted: true, network: sameEnterprise }"],
                authentication: "tls-dsk",
                settings: ["directory: { file: \"\(users.path)\" }", certificates.configuration])

            func finch(_ user: String) async throws -> Finch {
                try await Finch(
                    user: "\(user)@contoso.com", server: gateway.port, authentication: .tlsDSK,
                    trusting: ["127.0.0.1": certificates.httpsCertificate], named: user, in: scratch)
            }
            let stranger = try await finch("mallory")
            #expect(await stranger.isRefused(), "\(stranger.account)\n\(gateway.log.suffix(6000))")
            #expect(await stranger.quit() == 0, "\(stranger.account)")

            let (alice, bob) = (try await finch("alice"), try await finch("bob"))
            func account() -> String { "\(alice.account)\n\(bob.account)\n\(certificates.log)\n\(gateway.log.suffix(8000))" }
            #expect(await alice.signsIn(), "\(account())")
            #expect(await bob.signsIn(), "\(account())")
            try await alice.add(bob.uri, to: "Colleagues")
            #expect(await alice.sees(bob.uri, "available"), "\(account())")
            try await bob.show("busy", "budget")
            #expect(await alice.sees(bob.uri, "busy", "budget"), "\(account())")
            #expect(try await bob.signOut(), "\(account())")
            #expect(await alice.sees(bob.uri, "offline"), "\(account())")
            for finch in [bob, alice] { #expect(await finch.quit() == 0, "\(account())") }
            #expect(await gateway.stop() == 0, "\(gateway.log.suffix(6000))")
            await certificates.stop()
            scratch.remove()
        }
    }
}

/// Temporary authority and the web service that issues its certificates to clients.
final class CertificateService: Sendable {
    private let process: ChildProcess
    private let folder: URL
    private let port: Int

    init(in scratch: ScratchDirectory) async throws {
        folder = scratch.file("authority")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let script = PeerPrograms.files.appendingPathComponent("../../Support/make-certificates").standardizedFileURL
        let made = try ChildProcess(script, [folder.path], in: scratch.url, name: "make-certificates")
        guard await made.exit(within: 60) == 0 else { throw PeerError(description: "make-certificates: \(made.errorText)") }
        let process = try ChildProcess(
            try PeerPrograms.python.required(package: "python3"),
            [PeerPrograms.files.appendingPathComponent("finch/certificate-service").path, folder.path], in: scratch.url,
            name: "certificate-service")
        _ = await eventually(within: 20) { process.outputText.hasSuffix("\n") || !process.isRunning }
        guard let port = Int(process.outputText.trimmingCharacters(in: .newlines)) else {
            throw PeerError(description: "the certificate service does not start: \(process.errorText)")
        }
        (self.process, self.port) = (process, port)
    }

    /// Lines of the gateway's configuration.
    var configuration: String {
        "tls-dsk: { certificate: \"\(folder.path)/server.pem\", key: \"\(folder.path)/server.key\", "
            + "client-ca: \"\(folder.path)/authority.pem\", "
            + "sts-uri: \"https://127.0.0.1:\(port)/CertProv/CertProvisioningService.svc\" }"
    }

    /// HTTPS certificate of the service.
    var httpsCertificate: URL { folder.appendingPathComponent("server.pem") }

    var log: String { process.errorText }

    func stop() async { await process.stop() }
}
