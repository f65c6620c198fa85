import Glibc
import SIPCore

/// Blocking loopback socket of the load.
public final class PlainSocket {
    public let descriptor: Int32
    /// Local address.
    public let host: String
    public let port: Int
    private let isStream: Bool
    private var framer = StreamFramer()
    private var buffer = [UInt8](repeating: 0, count: 1 << 18)

    /// Local host and port.
    public var name: String { "\(host):\(port)" }

    private init(_ descriptor: Int32, at host: String, isStream: Bool) {
        self.descriptor = descriptor
        self.isStream = isStream
        self.host = host
        var own = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &own) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(descriptor, $0, &size) }
        }
        port = Int(UInt16(bigEndian: own.sin_port))
        var one: Int32 = 1
        if isStream { setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4) }
        var room: Int32 = 8 << 20
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, 4)
    }

    private static func with<Value>(_ port: Int, at host: String = "127.0.0.1", _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value)
        -> Value
    {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = inet_addr(host)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }

    private static func made(_ type: __socket_type) -> Int32 {
        let descriptor = socket(AF_INET, Int32(type.rawValue), 0)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }

    private static func check(_ result: Int32, _ what: String) {
        guard result != 0 else { return }
        print("load: \(what): \(String(cString: strerror(errno)))")
        exit(1)
    }

    /// Opens a connection to a port of 127.0.0.1.
    public static func connected(to port: Int, from host: String = "127.0.0.1") -> PlainSocket {
        let descriptor = made(SOCK_STREAM)
        check(with(0, at: host) { bind(descriptor, $0, $1) }, "bind")
        check(with(port) { connect(descriptor, $0, $1) }, "connect")
        return PlainSocket(descriptor, at: host, isStream: true)
    }

    /// Opens a UDP socket that sends to a port of 127.0.0.1.
    public static func udp(to port: Int, from host: String = "127.0.0.1") -> PlainSocket {
        let descriptor = made(SOCK_DGRAM)
        check(with(0, at: host) { bind(descriptor, $0, $1) }, "bind")
        check(with(port) { connect(descriptor, $0, $1) }, "connect")
        return PlainSocket(descriptor, at: host, isStream: false)
    }

    public static func listening(at host: String = "127.0.0.1") -> PlainSocket {
        let descriptor = made(SOCK_STREAM)
        check(with(0, at: host) { bind(descriptor, $0, $1) }, "bind")
        check(listen(descriptor, 64), "listen")
        return PlainSocket(descriptor, at: host, isStream: true)
    }

    /// Whether a server accepts connections at this port.
    public static func answers(on port: Int) -> Bool {
        let descriptor = made(SOCK_STREAM)
        defer { close(descriptor) }
        return with(port) { connect(descriptor, $0, $1) } == 0
    }

    public func accepted() -> PlainSocket {
        let descriptor = accept(self.descriptor, nil, nil)
        Self.check(descriptor < 0 ? 1 : 0, "accept")
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return PlainSocket(descriptor, at: host, isStream: true)
    }

    public func shut() { close(descriptor) }

    public func send(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = Glibc.send(descriptor, bytes.baseAddress! + done, bytes.count - done, Int32(MSG_NOSIGNAL))
                PlainSocket.check(count < 0 ? 1 : 0, "send")
                done += count
            }
        }
    }

    /// Returns the messages of one read.
    public func receive() -> [[UInt8]] {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        PlainSocket.check(count <= 0 ? 1 : 0, "receive")
        guard isStream else { return [Array(buffer[..<count])] }
        framer.append(buffer[..<count])
        var messages: [[UInt8]] = []
        while let event = framer.next() {
            if case .message(let message) = event { messages.append(message) }
        }
        return messages
    }
}
