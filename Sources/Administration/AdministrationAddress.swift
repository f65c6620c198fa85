import Glibc
import NIOCore

/// The address of an administration listener.
package enum AdministrationAddress: Hashable, Sendable, CustomStringConvertible {
    /// A host name or IP address without brackets, and a TCP port.
    case http(host: String, port: Int)
    /// The path of a Unix socket.
    case socket(String)

    /// `http:HOST:PORT` or `unix:PATH`.
    package var description: String {
        switch self {
        case .http: "http:\(authority)"
        case .socket(let path): "unix:\(path)"
        }
    }

    /// The value of Host in a request (RFC 9112 3.2); `localhost` for a Unix socket, which has no host.
    var authority: String {
        switch self {
        case .http(let host, let port): "\(host.contains(":") ? "[\(host)]" : host):\(port)"
        case .socket: "localhost"
        }
    }

    /// Whether only processes on this machine can connect: a Unix socket or a loopback host.
    package var isLocal: Bool {
        switch self {
        case .socket: true
        case .http(let host, _): Self.isLoopback(host)
        }
    }

    /// Whether a host is `localhost`, an address in 127.0.0.0/8, or `::1`. Other spellings of the IPv6 loopback return
    /// false.
    package static func isLoopback(_ host: String) -> Bool {
        if host.lowercased() == "localhost" { return true }
        guard let address = try? SocketAddress(ipAddress: host, port: 0) else { return false }
        switch address {
        // A host that parsed as an IPv4 address has four numbers, so a prefix test is enough.
        case .v4: return host.hasPrefix("127.")
        case .v6: return host == "::1"
        case .unixDomainSocket: return false
        }
    }
}

/// A Unix socket with mode 0600.
enum PrivateSocket {
    /// Creates the socket, not yet listening, and its file with mode 0600. Replaces the file of a process that has ended.
    /// - Throws: ``AdministrationError`` if the path is another kind of file, or a process listens on it.
    static func bind(_ path: String) throws(AdministrationError) -> NIOBSDSocket.Handle {
        try removeDeadSocket(path)
        let handle = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard handle >= 0 else { throw AdministrationError(path, errno) }
        do throws(AdministrationError) {
            try withAddress(of: path) { bound in
                // Clients cannot connect between bind and chmod: the kernel refuses connections before listen().
                guard Glibc.bind(handle, bound.0, bound.1) == 0, chmod(path, 0o600) == 0 else { return errno }
                return 0
            }
        } catch {
            close(handle)
            throw error
        }
        return handle
    }

    private static func removeDeadSocket(_ path: String) throws(AdministrationError) {
        var information = stat()
        guard lstat(path, &information) == 0 else { return }
        guard information.st_mode & S_IFMT == S_IFSOCK else {
            throw AdministrationError(path: path, reason: "there is a file that is no socket")
        }
        // Non-blocking: connect() returns EAGAIN if a process listens there but its backlog is full.
        let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard probe >= 0 else { throw AdministrationError(path, errno) }
        defer { close(probe) }
        do throws(AdministrationError) {
            try withAddress(of: path) { bound in Glibc.connect(probe, bound.0, bound.1) == 0 ? 0 : errno }
        } catch {
            switch error.code {
            case ECONNREFUSED:
                guard unlink(path) == 0 else { throw AdministrationError(path, errno) }
                return
            case EAGAIN: break
            default: throw error
            }
        }
        throw AdministrationError(path: path, reason: "another process listens there")
    }

    /// Calls `body` with the socket address of a path; `body` returns an errno value, or 0 for success.
    private static func withAddress(
        of path: String, _ body: ((UnsafePointer<sockaddr>, socklen_t)) -> Int32
    ) throws(AdministrationError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path), !bytes.contains(0) else {
            throw AdministrationError(path: path, reason: "the path is longer than a socket's may be (unix(7): 107 octets)")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body(($0, socklen_t(MemoryLayout<sockaddr_un>.size))) }
        }
        guard code == 0 else { throw AdministrationError(path, code) }
    }
}

/// The reason a Unix socket cannot be used.
package struct AdministrationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path of the socket.
    package var path: String
    /// The cause, from `strerror` or in words of Isthmus.
    package var reason: String
    /// The errno value; 0 if ``reason`` does not come from the system.
    var code: Int32 = 0

    init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }

    init(_ path: String, _ code: Int32) {
        self.init(path: path, reason: String(cString: strerror(code)))
        self.code = code
    }

    /// `PATH: REASON`.
    package var description: String { "\(path): \(reason)" }
}
