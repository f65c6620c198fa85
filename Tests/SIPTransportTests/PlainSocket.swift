import Dispatch
import Glibc
import SIPCore

/// Blocking loopback socket with a time limit for every read, so that a broken transport fails a test instead of blocking it.
final class PlainSocket: @unchecked Sendable {
    private(set) var descriptor: Int32
    let port: Int

    enum Kind {
        case udp, tcp, tcpListener
        /// Holds its port without listening, so that connections are refused and no other test gets the port.
        case tcpClosed
    }

    /// Opens a socket on a free loopback port, or on the given one, at 127.0.0.`host`; `tcp` connects to `peer` at 127.0.0.`peerHost`.
    init(
        _ kind: Kind, peer: Int = 0, port wanted: Int = 0, from host: UInt32 = 1, at peerHost: UInt32 = 1, receiveBuffer: Int32? = nil
    ) throws {
        let descriptor = Glibc.socket(AF_INET, kind == .udp ? Int32(SOCK_DGRAM.rawValue) : Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        if wanted != 0 {
            var reuse: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        }
        if host != 1, kind == .tcp {
            var source = Self.loopback(0)
            source.sin_addr.s_addr = UInt32(0x7f00_0000 | host).bigEndian
            _ = withUnsafePointer(to: &source) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.bind(descriptor, $0, size) }
            }
        }
        var address = Self.loopback(kind == .tcp ? peer : wanted)
        address.sin_addr.s_addr = UInt32(0x7f00_0000 | (kind == .tcp ? peerHost : host)).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                kind == .tcp ? Glibc.connect(descriptor, $0, size) : Glibc.bind(descriptor, $0, size)
            }
        }
        guard result == 0 else { throw SocketFailure(errno) }
        if kind == .tcpListener { Glibc.listen(descriptor, 16) }
        var own = sockaddr_in()
        var ownSize = size
        _ = withUnsafeMutablePointer(to: &own) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &ownSize) }
        }
        self.descriptor = descriptor
        port = Int(UInt16(bigEndian: own.sin_port))
    }

    private init(accepted: Int32) {
        descriptor = accepted
        port = 0
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close() }

    static func loopback(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    func accept() throws -> PlainSocket {
        let accepted = Glibc.accept(descriptor, nil, nil)
        guard accepted >= 0 else { throw SocketFailure(errno) }
        return PlainSocket(accepted: accepted)
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count <= 0 { return }
            sent += count
        }
    }

    func send(_ text: String, to port: Int) { send(Array(text.utf8), to: port) }

    func send(_ bytes: [UInt8], to port: Int) {
        var address = Self.loopback(port)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Closes the sending half; input still arrives.
    func shutdownSending() { Glibc.shutdown(descriptor, Int32(SHUT_WR)) }

    /// Returns all input until the end of the stream.
    func receiveAll() throws -> String {
        var text = ""
        while let more = try receive() { text += more }
        return text
    }

    /// Returns the input of one read; nil at the end of the stream.
    func receive() throws -> String? {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        guard count >= 0 else { throw SocketFailure(errno) }
        return count == 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Returns all input that has arrived, without waiting.
    func received() -> String {
        var text: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { return String(decoding: text, as: UTF8.self) }
            text += bytes[..<count]
        }
    }

    /// Reads until the text contains `pattern` `count` times.
    func receive(until pattern: String, count: Int = 1) throws -> String {
        var text = ""
        while text.components(of: pattern) < count {
            guard let more = try receive() else { throw SocketFailure(0) }
            text += more
        }
        return text
    }

    /// As `receive(until:count:)`, on a thread outside Swift's pool, for tests that run in parallel.
    func arriving(until pattern: String, count: Int = 1) async throws -> String {
        try await Self.aside { try self.receive(until: pattern, count: count) }
    }

    func nextPeer() async throws -> PlainSocket { try await Self.aside { try self.accept() } }

    static func aside<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
        }
    }

    func close() {
        guard descriptor >= 0 else { return }
        Glibc.close(descriptor)
        descriptor = -1
    }
}

struct SocketFailure: Error {
    var number: Int32
    init(_ number: Int32) { self.number = number }
}

extension String {
    func components(of pattern: String) -> Int {
        let text = Array(utf8)
        let wanted = Array(pattern.utf8)
        guard text.count >= wanted.count else { return 0 }
        return (0...(text.count - wanted.count)).count { text[$0..<($0 + wanted.count)].elementsEqual(wanted) }
    }
}
