import Glibc
import NIOCore

/// Where the administration listener is reached.
public enum AdministrationAddress: Hashable, Sendable, CustomStringConvertible {
    case http(host: String, port: Int)
    /// The path of a Unix socket.
    case socket(String)

    public var description: String {
        switch self {
        case .http: "http:\(authority)"
        case .socket(let path): "unix:\(path)"
        }
    }

    /// What a request names as its Host (RFC 9112 3.2); a socket has none, and stands for this machine.
    var authority: String {
        switch self {
        case .http(let host, let port): "\(host.contains(":") ? "[\(host)]" : host):\(port)"
        case .socket: "localhost"
        }
    }

    /// Whether only this machine reaches the address.
    public var isLocal: Bool {
        switch self {
        case .socket: true
        case .http(let host, _): Self.isLoopback(host)
        }
    }

    /// Whether a host is this machine's loopback: an address of it, or `localhost`.
    public static func isLoopback(_ host: String) -> Bool {
        if host.lowercased() == "localhost" { return true }
        guard let address = try? SocketAddress(ipAddress: host, port: 0) else { return false }
        switch address {
        // What was read as an address has four numbers.
        case .v4: return host.hasPrefix("127.")
        case .v6: return host == "::1"
        case .unixDomainSocket: return false
        }
    }
}

/// A Unix socket that only its owner may open.
enum PrivateSocket {
    /// Makes the socket and its file with mode 0600, not yet listening; a file that a dead process left is replaced.
    /// - Throws: ``AdministrationError`` when something else is there, or somebody listens there.
    static func bind(_ path: String) throws(AdministrationError) -> NIOBSDSocket.Handle {
        try removeDeadSocket(path)
        let handle = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard handle >= 0 else { throw AdministrationError(path, errno) }
        do throws(AdministrationError) {
            try withAddress(of: path) { bound in
                // Nobody can connect between the two: connections are refused before listen().
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
        // Not blocking: whoever listens there and accepts nobody is alive all the same.
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

    /// Calls `body`, which returns an errno or 0, with the address of a path.
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

/// Why a Unix socket cannot be used.
public struct AdministrationError: Error, Hashable, Sendable, CustomStringConvertible {
    public var path: String
    public var reason: String
    /// The system's number; 0: the reason is ours.
    var code: Int32 = 0

    init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }

    init(_ path: String, _ code: Int32) {
        self.init(path: path, reason: String(cString: strerror(code)))
        self.code = code
    }

    public var description: String { "\(path): \(reason)" }
}
