import SIPCore

/// What the bytes of one connection amount to.
struct StreamInput {
    enum Event {
        case message([UInt8])
        /// CRLFCRLF between messages (RFC 5626 3.5.1).
        case keepAlive
        /// The stream cannot be cut into messages any more; the answer to its last request, when there is one.
        case refused(response: [UInt8]?, reason: String)
    }

    private var buffer: [UInt8] = []
    private let options: TransportOptions

    init(options: TransportOptions) { self.options = options }

    mutating func append(_ bytes: UnsafeRawBufferPointer) { buffer.append(contentsOf: bytes) }

    mutating func next() -> Event? {
        if buffer.starts(with: [13, 10, 13, 10]) {
            buffer.removeFirst(4)
            return .keepAlive
        }
        guard buffer.count >= 4 else { return nil }
        for end in 0...(buffer.count - 4) where Array(buffer[end..<end + 4]) == [13, 10, 13, 10] {
            let head = String(decoding: buffer[..<end], as: UTF8.self).lowercased()
            let lines = head.split(separator: "\r\n")
            guard let line = lines.first(where: { $0.hasPrefix("content-length:") || $0.hasPrefix("l:") }),
                let colon = line.firstIndex(of: ":"),
                let length = Int(line[line.index(after: colon)...].filter { $0 != " " }), length >= 0,
                length <= options.maximumBodyBytes
            else { return .refused(response: nil, reason: "Content-Length") }
            guard buffer.count >= end + 4 + length else { return nil }
            let message = Array(buffer[..<(end + 4 + length)])
            buffer.removeFirst(message.count)
            return .message(message)
        }
        return buffer.count > options.maximumHeaderBytes ? .refused(response: nil, reason: "header too large") : nil
    }
}
