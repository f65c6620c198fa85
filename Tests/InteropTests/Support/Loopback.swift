import Foundation

/// Ports and plain sockets on 127.0.0.1 for tests.
enum Loopback {
    struct SocketError: Error { var what: String }

    /// A port that was free a moment ago for both UDP and TCP.
    static func freePort() throws -> Int {
        for _ in 0..<50 {
            let datagram = try LoopbackSocket(.datagram, port: 0)
            if (try? LoopbackSocket(.listener, port: datagram.port)) != nil { return datagram.port }
        }
        throw SocketError(what: "no port is free for both UDP and TCP")
    }

    static func address(_ port: Int, at host: String = "127.0.0.1") -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(truncatingIfNeeded: port)).bigEndian
        address.sin_addr.s_addr = inet_addr(host)
        return address
    }
}

/// One blocking socket with a time limit on every read; the tests' own, so that it shares no code with the transport under test.
final class LoopbackSocket {
    enum Kind { case datagram, stream, listener }

    private let descriptor: Int32
    let port: Int

    /// - Parameters:
    ///   - wanted: where it listens, or for a stream whereto it connects.
    ///   - host: its own address, within 127.0.0.0/8.
    init(_ kind: Kind, port wanted: Int, at host: String = "127.0.0.1") throws {
        let type = kind == .datagram ? SOCK_DGRAM.rawValue : SOCK_STREAM.rawValue
        let opened = socket(AF_INET, Int32(type | SOCK_CLOEXEC.rawValue), 0)
        guard opened >= 0 else { throw Loopback.SocketError(what: "socket: \(errno)") }
        // Connections of a server that was there before may still be ending.
        var reuse: Int32 = 1
        if kind == .listener { setsockopt(opened, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size)) }
        var done = Self.with(Loopback.address(kind == .stream ? 0 : wanted, at: host)) { bind(opened, $0, $1) } == 0
        if done, kind == .listener { done = listen(opened, 4) == 0 }
        if done, kind == .stream { done = Self.with(Loopback.address(wanted)) { connect(opened, $0, $1) } == 0 }
        guard done else {
            let reason = errno
            close(opened)
            throw Loopback.SocketError(what: "\(kind) on port \(wanted): error \(reason)")
        }
        var own = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &own) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(opened, $0, &length) }
        }
        descriptor = opened
        port = Int(UInt16(bigEndian: own.sin_port))
    }

    private static func with(_ address: sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }

    deinit { close(descriptor) }

    /// Sends a datagram to a port of 127.0.0.1.
    func send(_ bytes: [UInt8], to port: Int) {
        _ = Self.with(Loopback.address(port)) { Int32(truncatingIfNeeded: sendto(descriptor, bytes, bytes.count, 0, $0, $1)) }
    }

    /// Sends bytes over the connection.
    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }

    /// What arrives next, nil when nothing does within the limit or the connection ended.
    func receive(atMost milliseconds: Int = 5000) -> [UInt8]? {
        var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&wait, 1, Int32(milliseconds)) > 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    /// Reads until the text holds a fragment or the limit has passed; returns what was read.
    func receive(until fragment: String, atMost milliseconds: Int = 5000) -> String {
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        var text = ""
        while !text.contains(fragment), ContinuousClock.now < end {
            guard let bytes = receive(atMost: 100) else { continue }
            text += String(decoding: bytes, as: UTF8.self)
        }
        return text
    }
}
