import CEpoll
import Glibc

/// TCP connection of the load on loopback, which does not block.
final class LoadConnection {
    let descriptor: Int32
    /// Own port.
    let port: Int
    let input = Octets()
    let output = Octets()
    /// Whether the connection waits for its output to be written.
    var isWaiting = false

    init(descriptor: Int32) {
        self.descriptor = descriptor
        port = Self.port(of: descriptor)
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    /// Connects to a port of 127.0.0.1.
    convenience init(to port: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        Self.check(Self.with(port) { connect(descriptor, $0, $1) } == 0, "connect")
        self.init(descriptor: descriptor)
    }

    /// Writes the output that the socket accepts; returns whether it is all written.
    func flush() -> Bool {
        var done = 0
        while done < output.count {
            let count = send(descriptor, output.base + done, output.count - done, Int32(MSG_NOSIGNAL))
            if count < 0 {
                Self.check(errno == EAGAIN, "send")
                break
            }
            done += count
        }
        output.removeFirst(done)
        return output.count == 0
    }

    /// Reads once; false when the other side has closed the connection.
    func fill() -> Bool {
        input.reserve(1 << 17)
        let count = recv(descriptor, input.base + input.count, 1 << 17, 0)
        if count > 0 { input.grow(count) }
        return count > 0 || (count < 0 && errno == EAGAIN)
    }

    /// Listens on 127.0.0.1; port 0 takes a free one.
    static func listening(on port: Int = 0) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, 4)
        check(with(port) { bind(descriptor, $0, $1) } == 0, "bind")
        check(listen(descriptor, 1_024) == 0, "listen")
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        return descriptor
    }

    static func port(of descriptor: Int32) -> Int {
        var own = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &own) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(descriptor, $0, &size) }
        }
        return Int(UInt16(bigEndian: own.sin_port))
    }

    static func check(_ isGood: Bool, _ what: String) {
        guard !isGood else { return }
        print("load: \(what): \(String(cString: strerror(errno)))")
        exit(1)
    }

    static func with<Value>(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}
