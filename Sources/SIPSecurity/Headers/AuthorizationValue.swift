/// A value of Authorization or Proxy-Authorization: scheme and parameters (RFC 7235 2.1, RFC 3261 25.1).
struct AuthorizationValue: Hashable, Sendable {
    /// Longest accepted value in octets, with room for an NTLM token.
    static let lengthLimit = 16_384
    static let parameterLimit = 32

    let scheme: String
    private let parameters: [String: String]

    /// Parses the whole value; nil if it is malformed, too long, or repeats a parameter.
    init?(_ text: String) {
        guard text.utf8.count <= Self.lengthLimit else { return nil }
        var reader = Reader(bytes: Array(text.utf8))
        reader.skipBlanks()
        guard let scheme = reader.token() else { return nil }
        self.scheme = scheme
        var parameters: [String: String] = [:]
        reader.skipBlanks()
        while !reader.isAtEnd {
            guard parameters.count < Self.parameterLimit, let name = reader.token(), reader.consume(UInt8(ascii: "=")),
                let value = reader.value(), parameters.updateValue(value, forKey: name.lowercased()) == nil
            else { return nil }
            reader.skipBlanks()
            if reader.isAtEnd { break }
            guard reader.consume(UInt8(ascii: ",")), !reader.isAtEnd else { return nil }
        }
        self.parameters = parameters
    }

    /// The scheme of a value, whose other parts may be malformed; nil if there is none.
    static func scheme(of text: String) -> String? {
        var reader = Reader(bytes: Array(text.utf8.prefix(lengthLimit)))
        reader.skipBlanks()
        return reader.token()
    }

    /// The value of a parameter by lower-case name; nil if absent.
    subscript(name: String) -> String? { parameters[name] }

    func isScheme(_ name: String) -> Bool { scheme.lowercased() == name.lowercased() }

    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        var isAtEnd: Bool { position >= bytes.count }

        mutating func skipBlanks() {
            while position < bytes.count, bytes[position] <= 0x20 { position += 1 }
        }

        /// Consumes the byte and blanks around it.
        mutating func consume(_ byte: UInt8) -> Bool {
            skipBlanks()
            guard position < bytes.count, bytes[position] == byte else { return false }
            position += 1
            skipBlanks()
            return true
        }

        mutating func token() -> String? {
            let start = position
            while position < bytes.count, Self.isToken(bytes[position]) { position += 1 }
            return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
        }

        /// Parses a quoted string without its escapes, or the characters up to the next comma or blank.
        mutating func value() -> String? {
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
                let start = position
                while position < bytes.count, bytes[position] > 0x20, bytes[position] != UInt8(ascii: ","),
                    bytes[position] != UInt8(ascii: "\"")
                {
                    position += 1
                }
                return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
            }
            var content: [UInt8] = []
            position += 1
            while position < bytes.count {
                switch bytes[position] {
                case UInt8(ascii: "\""):
                    position += 1
                    return String(decoding: content, as: UTF8.self)
                case UInt8(ascii: "\\") where position + 1 < bytes.count:
                    content.append(bytes[position + 1])
                    position += 2
                case let byte:
                    content.append(byte)
                    position += 1
                }
            }
            return nil
        }

        private static func isToken(_ byte: UInt8) -> Bool {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            case 0x21, 0x25, 0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5F, 0x60, 0x7E: true
            default: false
            }
        }
    }
}
