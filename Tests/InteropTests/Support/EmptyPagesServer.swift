import Foundation
import Glibc

/// A directory server that accepts every bind and answers every search with an empty page and a cookie (RFC 4511, RFC 2696).
final class EmptyPagesServer: Sendable {
    /// The port on 127.0.0.1.
    let port: Int
    private let listener: Int32

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 4) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound else {
            close(listener)
            throw POSIXError(.EADDRNOTAVAIL)
        }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                while let answer = Self.message(connection).flatMap(Self.answer) {
                    guard answer.withUnsafeBytes({ write(connection, $0.baseAddress, $0.count) }) == answer.count else { break }
                }
                close(connection)
            }
        }
    }

    /// Ends the thread that accepts connections.
    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// The content of the next message; nil at the end of the connection.
    private static func message(_ connection: Int32) -> [UInt8]? {
        guard let head = octets(2, connection), head[0] == 0x30 else { return nil }
        guard head[1] & 0x80 != 0 else { return octets(Int(head[1]), connection) }
        guard let length = octets(Int(head[1] & 0x7F), connection) else { return nil }
        return octets(length.reduce(0) { $0 << 8 | Int($1) }, connection)
    }

    private static func octets(_ count: Int, _ connection: Int32) -> [UInt8]? {
        var result = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let taken = result.withUnsafeMutableBytes { read(connection, $0.baseAddress! + done, count - done) }
            guard taken > 0 else { return nil }
            done += taken
        }
        return result
    }

    /// The response to a bind or a search; nil for other requests.
    private static func answer(_ message: [UInt8]) -> [UInt8]? {
        guard message.count > 2, message.count > 2 + Int(message[1]) else { return nil }
        let end = 2 + Int(message[1])
        let success = element(0x0A, [0]) + element(0x04, []) + element(0x04, [])
        switch message[end] {
        case 0x60: return element(0x30, message[..<end] + element(0x61, success))
        case 0x63:
            let value = element(0x30, element(0x02, [0]) + element(0x04, [0x78]))
            let control = element(0x30, element(0x04, Array("1.2.840.113556.1.4.319".utf8)) + element(0x04, value))
            return element(0x30, message[..<end] + element(0x65, success) + element(0xA0, control))
        default: return nil
        }
    }

    /// A BER element of at most 127 octets of content.
    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag, UInt8(content.count)] + content }
}
