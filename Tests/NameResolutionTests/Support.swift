import Foundation
import Glibc
import NameResolution
import SIPCore

/// A UDP port of 127.0.0.1 that takes questions and never answers.
final class SilentPort {
    let number: Int
    private let socket: Int32

    init() throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        number = try Self.bind(socket)
    }

    deinit { close(socket) }

    /// Binds to a free port of 127.0.0.1 and says which.
    static func bind(_ socket: Int32) throws -> Int {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        guard isBound else { throw NameTestError(description: "no free UDP port: \(String(cString: strerror(errno)))") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// How many datagrams have arrived; takes them.
    func received() -> Int {
        var buffer = [UInt8](repeating: 0, count: 1_024)
        var count = 0
        while recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT)) > 0 { count += 1 }
        return count
    }
}

struct NameTestError: Error, CustomStringConvertible {
    var description: String
}

extension NameResolver {
    func answer(to question: NameQuestion) async -> NameAnswer {
        await withCheckedContinuation { continuation in
            ask(question) { continuation.resume(returning: $0) }
        }
    }
}
