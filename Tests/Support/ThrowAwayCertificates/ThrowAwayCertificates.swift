import Foundation
import Glibc

/// Certificates and keys of throw-away authorities, made by OpenSSL's command for one run of the tests.
package enum ThrowAwayCertificates: String, Sendable {
    /// A pool with its users (`make-certificates`).
    case pool = "make-certificates"
    /// Partners, good and bad, of several authorities (`make-partner-certificates`).
    case partners = "make-partner-certificates"

    /// The script ended with this code, 128 and the signal, or did not start.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Fills a directory that exists.
    package func make(in folder: URL) throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
            rawValue)
        let code = try Self.run(script.path, [folder.path])
        guard code == 0 else { throw Failure(description: "\(rawValue) ends with \(code)") }
    }

    /// The contents of all files by name; nothing stays on the disk.
    package func files() throws -> [String: [UInt8]] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-\(rawValue)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try make(in: folder)
        return try Dictionary(
            uniqueKeysWithValues: FileManager.default.contentsOfDirectory(atPath: folder.path).map {
                ($0, [UInt8](try Data(contentsOf: folder.appendingPathComponent($0))))
            })
    }

    /// Runs a program to its end, without standard input and output. Foundation's `Process` is not used: of two that were started
    /// at the same moment, one was seen to wait for ever for a child that had ended.
    private static func run(_ program: String, _ arguments: [String]) throws -> Int32 {
        var files = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&files)
        defer { posix_spawn_file_actions_destroy(&files) }
        for descriptor in [Int32(0), 1, 2] { posix_spawn_file_actions_addopen(&files, descriptor, "/dev/null", O_RDWR, 0) }
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = ProcessInfo.processInfo.environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for word in words + variables { free(word) } }
        var child: pid_t = 0
        let failure = posix_spawn(&child, program, &files, nil, &words, &variables)
        guard failure == 0 else { throw Failure(description: "\(program) does not start: error \(failure)") }
        var status: Int32 = 0
        while waitpid(child, &status, 0) != child {
            guard errno == EINTR else { throw Failure(description: "\(program) is not waited for: error \(errno)") }
        }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
    }
}
