import Foundation
import Logging
import SIPCore
import Testing
import ThrowAwayCertificates

@testable import GatewayService

/// Reading the files of TLS-DSK.
@Suite(.timeLimit(.minutes(10))) struct TLSDSKFilesTests {
    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test("a file that is not there or cannot be used is named with its key, when the program starts and when it reads anew")
    func files() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-tls-dsk-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try ThrowAwayCertificates.pool.make(in: folder)
        try Data("users: {}\n".utf8).write(to: folder.appendingPathComponent("users.yaml"))

        func configuration(_ certificate: String, _ key: String, _ authority: String) throws -> ProgramConfiguration {
            let text = """
                node: { name: edge1.example.net }
                listen: [ { address: "tcp:127.0.0.1:0", authentication: tls-dsk } ]
                directory: { file: users.yaml }
                tls-dsk: { certificate: \(certificate), key: \(key), client-ca: \(authority) }
                domains: { contoso.com: { side: enterprise, hosted: true } }
                """
            return try ConfigurationReader.read(text, file: folder.appendingPathComponent("isthmus.yaml").path)
        }
        func problem(_ certificate: String, _ key: String, _ authority: String) async throws -> [String] {
            do {
                let gateway = try await RunningGateway.start(
                    try configuration(certificate, key, authority), logger: Self.quiet)
                await gateway.stop(drain: .seconds(1))
                return []
            } catch let failure as ServiceFailure {
                return failure.lines
            }
        }
        #expect(
            try await problem("gone.pem", "server.key", "authority.pem")
                == ["tls-dsk.certificate: \(folder.path)/gone.pem: No such file or directory"])
        #expect(
            try await problem("server.pem", "alice.key", "authority.pem")
                == ["tls-dsk.key: \(folder.path)/alice.key: is not the key of the certificate"])
        #expect(
            try await problem("server.pem", "server.key", "users.yaml")
                == ["tls-dsk.client-ca: \(folder.path)/users.yaml: holds no certificate in PEM form"])

        let gateway = try await RunningGateway.start(
            try configuration("server.pem", "server.key", "authority.pem"), logger: Self.quiet)
        try await gateway.reload(try configuration("bob.pem", "bob.key", "stranger.pem"))
        await #expect(throws: ServiceFailure.self) { try await gateway.reload(try configuration("bob.pem", "server.key", "stranger.pem")) }
        await gateway.stop(drain: .seconds(1))
    }
}
