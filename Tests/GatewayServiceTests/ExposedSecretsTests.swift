import Foundation
import Testing

@testable import GatewayService

@Suite struct ExposedSecretsTests {
    @Test("check warns of private keys and users that others can read, and names key, file and mode")
    func exposedSecrets() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-secrets-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        func place(_ name: String, _ mode: Int) throws -> String {
            let path = directory.appendingPathComponent(name).path
            try Data("x".utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            return path
        }
        var configuration = ProgramConfiguration()
        configuration.tls = TLSFiles(own: .init(certificate: try place("own.pem", 0o644), key: try place("own.key", 0o644)))
        configuration.tls?.names = [
            "b.example.net": .init(certificate: try place("b.pem", 0o644), key: try place("b.key", 0o600)),
            "a.example.net": .init(certificate: try place("a.pem", 0o644), key: try place("a.key", 0o640)),
        ]
        configuration.directory = .file(try place("users.yaml", 0o606))
        let found = ExposedSecrets.warnings(of: configuration)
        #expect(
            found == [
                "tls.key: \(directory.path)/own.key: every user can read or change it (mode 0644); make it 0600",
                "tls.names.a.example.net.key: \(directory.path)/a.key: its group can read or change it (mode 0640); make it 0600",
                "directory.file: \(directory.path)/users.yaml: every user can read or change it (mode 0606); make it 0600",
            ])
    }
}
