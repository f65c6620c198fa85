/// Request of an HTTP client, received whole.
package struct HTTPRequest: Sendable {
    /// Method, with case.
    package var method: String
    /// Request target as received.
    package var target: String
    /// Header fields in the order of the request.
    package var headers: [(name: String, value: String)]
    /// Content.
    package var body: [UInt8]
    /// Address of the client, without port.
    package var remoteHost: String
    /// Port of the client.
    package var remotePort: Int

    /// Values of a header field, compared without case.
    package func values(_ name: String) -> [String] {
        headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }
}

/// Response to an HTTP request; Content-Length and Connection are written by the server.
package struct HTTPAnswer: Sendable {
    /// Status code.
    package var status: Int
    /// Header fields.
    package var headers: [(name: String, value: String)]
    /// Content.
    package var body: [UInt8]
    /// Whether only the length of the content is sent (HEAD).
    package var omitsBody: Bool

    /// Creates a response; by default without header fields and content.
    package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = [], omitsBody: Bool = false) {
        self.status = status
        self.headers = headers
        self.body = body
        self.omitsBody = omitsBody
    }
}

/// Address of an HTTP listener.
package struct HTTPAddress: Hashable, Sendable, CustomStringConvertible {
    /// Whether it is over TLS.
    package var isSecure: Bool
    /// Name or address literal, without brackets.
    package var host: String
    /// Port; 0: any free one.
    package var port: Int

    /// Creates an address.
    package init(isSecure: Bool, host: String, port: Int) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
    }

    /// `https:HOST:PORT` or `http:HOST:PORT`.
    package var description: String { "\(scheme):\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    /// `https` or `http`.
    package var scheme: String { isSecure ? "https" : "http" }
}

/// Limits of an HTTP server.
package struct HTTPOptions: Hashable, Sendable {
    /// Connections; a further one is closed at once.
    package var connections = 1_000
    /// Connections of one address, of IPv6 one /64; a further one is closed at once.
    package var connectionsPerAddress = 50
    /// Octets of a request line with its header fields; beyond it 431.
    package var headerBytes = 32_768
    /// Octets of a content; beyond it 413.
    package var bodyBytes = 262_144
    /// Octets of all contents that are being received; beyond it 503.
    package var unfinishedBytes = 67_108_864
    /// Longest time for TLS handshake and header fields, in milliseconds; the connection is closed then.
    package var headerMilliseconds = 10_000
    /// Longest time for a content, in milliseconds; 408 then.
    package var bodyMilliseconds = 20_000
    /// Longest time until a response is known, in milliseconds; 503 then.
    package var answerMilliseconds = 30_000
    /// Longest time between two requests, or for a client to take a response, in milliseconds.
    package var idleMilliseconds = 30_000

    /// Creates the default limits.
    package init() {}
}

/// Numbers of an HTTP server since its start.
package struct HTTPStatistics: Hashable, Sendable {
    /// Open connections.
    package var connections = 0
    /// Accepted connections.
    package var accepted = 0
    /// Connections closed at once because of a limit.
    package var refused = 0
    /// Requests received whole.
    package var requests = 0
    /// Requests refused because header fields or content were too large.
    package var tooLarge = 0
    /// Connections closed because header fields or content took too long.
    package var tooSlow = 0
}
