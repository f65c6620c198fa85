import Foundation
import SIPCore
import SIPSecurity
import Testing

@testable import GatewayService
@testable import isthmus

/// Sign-in as a whole: a directory file, a listener that requires sign-in, and the commands that support it.
@Suite(.timeLimit(.minutes(10))) struct SignInTests {
    private static let bob = "sip:bob@contoso.com"

    @Test("users sign in with what their listener offers, and nobody gets in without", arguments: ["ntlm", "digest", "any"])
    func signIn(_ authentication: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-sign-in-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func file(_ name: String, _ text: String) throws -> String {
            let place = folder.appendingPathComponent(name)
            try Data(text.utf8).write(to: place)
            return place.path
        }
        let verifiers = try CredentialVerifiers(user: "bob", realm: "contoso.com", password: "correct horse")
        _ = try file("users.yaml", "users:\n  \"\(Self.bob)\":\n    verifiers: \"\(verifiers.text)\"\n")
        let configuration = """
            node: { name: test.example.net }
            listen: [ { address: "tcp:127.0.0.1:0", authentication: \(authentication) } ]
            directory: { file: users.yaml }
            domains: { contoso.com: { side: enterprise, hosted: true } }
            """
        let gateway = try await RunningGateway.start(
            try ConfigurationReader.read(configuration, file: folder.appendingPathComponent("isthmus.yaml").path),
            logger: RunningGatewayTests.quiet)
        let watch = ["watch", Self.bob, "--via", gateway.addresses[0], "--once"]
        #expect(await Isthmus.run(watch + ["--password-file", try file("right", "correct horse\n")]) == 0)
        #expect(await Isthmus.run(watch + ["--password-file", try file("wrong", "battery staple\n")]) == 1)
        #expect(await Isthmus.run(watch) == 1)
        #expect(await Isthmus.run(watch + ["--user", "nobody", "--password-file", try file("right", "correct horse\n")]) == 1)
        await gateway.stop(drain: .seconds(1))
    }
}
