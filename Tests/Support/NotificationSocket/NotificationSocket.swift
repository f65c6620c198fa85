import Foundation
import Glibc

/// Socket of a service manager that a test plays: receives the datagrams of sd_notify(3) and keeps them in order.
///
/// Each has a name of its own, and changes nothing of the test's process, such as its environment.
package final class NotificationSocket: Sendable {
    /// Value for `NOTIFY_SOCKET`.
    package let name: String
    private let descriptor: Int32
    private let folder: URL?

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// - Parameter isAbstract: Whether the name is one of the abstract namespace instead of a path.
    package init(isAbstract: Bool = false) throws {
        let unique = "isthmus-notify-\(UUID().uuidString.prefix(8))"
        if isAbstract {
            folder = nil
            name = "@" + unique
        } else {
            let made = FileManager.default.temporaryDirectory.appendingPathComponent(unique)
            try FileManager.default.createDirectory(at: made, withIntermediateDirectories: true)
            folder = made
            name = made.appendingPathComponent("socket").path
        }
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let octets = Array(name.utf8)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard descriptor >= 0, octets.count < capacity else { throw Failure(description: "no socket at \(name)") }
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            path.copyBytes(from: octets)
            if isAbstract { path[0] = 0 }
        }
        let length = socklen_t(MemoryLayout.size(ofValue: address) - capacity + octets.count)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard bound == 0 else { throw Failure(description: "bind \(name): \(String(cString: strerror(errno)))") }
    }

    deinit {
        close(descriptor)
        if let folder { try? FileManager.default.removeItem(at: folder) }
    }

    /// Assignments of the oldest datagram that was not taken yet; nil when there is none.
    package func take() -> [String: String]? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { return nil }
        let lines = String(decoding: buffer.prefix(count), as: UTF8.self).split(separator: "\n")
        return Dictionary(
            lines.map { line in
                let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
            }, uniquingKeysWith: { first, _ in first })
    }

    /// Waits for the next datagram, without holding a thread.
    /// - Parameter isWanted: Others are dropped.
    /// - Throws: `Failure` when none came within the time.
    package func next(
        within seconds: Int = 20, where isWanted: ([String: String]) -> Bool = { $0["WATCHDOG"] == nil }
    ) async throws -> [String: String] {
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end {
            if let datagram = take() {
                if isWanted(datagram) { return datagram }
            } else {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        throw Failure(description: "no such notification within \(seconds) s")
    }
}
