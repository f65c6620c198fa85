import Foundation

/// OpenSSL's command as a client that resumes its session.
enum ResumingClient {
    /// Sends a request over each of two connections; the second resumes the session of the first.
    /// - Returns: Output of the second connection.
    static func connectTwice(to port: Int, as name: String, version: String) async throws -> String {
        let made = try PartnerCertificates.made.get()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-resuming-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for kind in ["pem", "key"] {
            try Data(made["\(name).\(kind)"]).write(to: folder.appendingPathComponent("own.\(kind)"))
        }
        let common = [
            "s_client", "-connect", "127.0.0.1:\(port)", "-servername", "example.net", "-cert", "own.pem", "-key", "own.key", "-\(version)",
        ]
        _ = try await exchange(common + ["-sess_out", "session"], in: folder)
        return try await exchange(common + ["-sess_in", "session"], in: folder)
    }

    /// Runs until the response arrives; on its own thread, since it reads with blocking calls.
    private static func exchange(_ arguments: [String], in folder: URL) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try run(arguments, in: folder) })
            }
        }
    }

    private static func run(_ arguments: [String], in folder: URL) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments = arguments
        process.currentDirectoryURL = folder
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        input.fileHandleForWriting.write(Data(request(via: "TLS").utf8))
        var text = ""
        while !text.contains("X-Shard"), case let more = output.fileHandleForReading.availableData, !more.isEmpty {
            text += String(decoding: more, as: UTF8.self)
        }
        // Closing its input ends the connection.
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        return text
    }
}
