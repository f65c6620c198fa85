import Glibc

/// TCP ports of 127.0.0.1.
public enum LoopbackPort {
    /// Port that was free a moment ago.
    public static func unused() -> Int {
        let descriptor = LoadConnection.listening()
        defer { close(descriptor) }
        return LoadConnection.port(of: descriptor)
    }

    /// Whether a server accepts connections at the port.
    public static func answers(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        return LoadConnection.with(port) { connect(descriptor, $0, $1) } == 0
    }
}
