/// Ranges of the parts of a URI; finding them checks the grammar without creating a string.
struct URISpans {
    enum Kind { case userAtHost, telephone, opaque }

    var kind: Kind
    var scheme: Range<Int>
    var user: Range<Int>?
    var password: Range<Int>?
    var host: Range<Int>
    var port: Int?
    /// Starts at the first `;`; may be empty.
    var parameters: Range<Int>
    var headers: Range<Int>?

    /// Reads the scanner's whole range as one URI; nil if it is malformed.
    init?(_ whole: ByteScanner) {
        var scanner = whole
        let start = scanner.position
        guard let first = scanner.current, scanner.isClass(first, ASCII.alpha) else { return nil }
        while let byte = scanner.current, byte != 0x3A {
            guard scanner.isClass(byte, ASCII.alpha | ASCII.digit) || byte == 0x2B || byte == 0x2D || byte == 0x2E else { return nil }
            scanner.position += 1
        }
        scheme = start..<scanner.position
        guard scanner.consume(0x3A) else { return nil }
        host = scanner.position..<scanner.position
        parameters = scanner.end..<scanner.end
        if Self.isUserAtHost(scanner, scheme) {
            kind = .userAtHost
            guard readUserAtHost(&scanner) else { return nil }
        } else if scanner.matches(scheme, "tel") {
            kind = .telephone
            guard readTelephone(&scanner) else { return nil }
        } else {
            kind = .opaque
            host = scanner.position..<scanner.end
            guard !host.isEmpty else { return nil }
            for index in host {
                switch scanner.bytes[index] {
                case 0x00...0x20, 0x22, 0x3C, 0x3E, 0x7F: return nil
                default: continue
                }
            }
        }
    }

    /// Whether the scheme is `sip`, `sips`, `pres` or `im`.
    @inline(__always)
    private static func isUserAtHost(_ scanner: ByteScanner, _ scheme: Range<Int>) -> Bool {
        let bytes = scanner.bytes
        let start = scheme.lowerBound
        if scheme.count == 3 {
            return bytes[start] | 0x20 == 0x73 && bytes[start + 1] | 0x20 == 0x69 && bytes[start + 2] | 0x20 == 0x70
        }
        return scanner.matches(scheme, "sips") || scanner.matches(scheme, "pres") || scanner.matches(scheme, "im")
    }

    private mutating func readUserAtHost(_ scanner: inout ByteScanner) -> Bool {
        // One pass: the text is userinfo if an `@` follows, else the host starts here.
        let start = scanner.position
        var index = start
        var colon: Int?
        userinfo: while index < scanner.end {
            let byte = scanner.bytes[index]
            if scanner.isClass(byte, ASCII.user) {
                if byte == 0x25, !Self.isEscape(scanner, index, scanner.end) { return false }
                index += 1
                continue
            }
            switch byte {
            case 0x3A where colon == nil:
                colon = index
                index += 1
            case 0x40:
                let userEnd = colon ?? index
                guard userEnd > start else { return false }
                user = start..<userEnd
                if let colon { password = colon + 1..<index }
                scanner.position = index + 1
                break userinfo
            default:
                break userinfo
            }
        }
        guard let host = Self.readHost(&scanner) else { return false }
        self.host = host
        if scanner.consume(0x3A) {
            guard let value = scanner.number(limit: 65535) else { return false }
            port = Int(value)
        }
        return readTail(&scanner)
    }

    private mutating func readTelephone(_ scanner: inout ByteScanner) -> Bool {
        let start = scanner.position
        var digits = 0
        while let byte = scanner.current, byte != 0x3B {
            switch byte {
            case 0x30...0x39, 0x41...0x46, 0x61...0x66, 0x2A, 0x23: digits += 1
            case 0x2D, 0x2E, 0x28, 0x29: break
            case 0x2B where scanner.position == start: break
            default: return false
            }
            scanner.position += 1
        }
        guard digits > 0 else { return false }
        user = start..<scanner.position
        host = scanner.position..<scanner.position
        // RFC 3966 3: a telephone number has parameters, but no headers.
        return readTail(&scanner) && headers == nil
    }

    private mutating func readTail(_ scanner: inout ByteScanner) -> Bool {
        let start = scanner.position
        guard scanner.isAtEnd || scanner.current == 0x3B || scanner.current == 0x3F else { return false }
        while let byte = scanner.current, byte != 0x3F {
            guard byte == 0x3B || scanner.isClass(byte, ASCII.uriParameter) else { return false }
            if byte == 0x25, !Self.isEscape(scanner, scanner.position, scanner.end) { return false }
            scanner.position += 1
        }
        parameters = start..<scanner.position
        guard scanner.consume(0x3F) else { return true }
        headers = scanner.position..<scanner.end
        for index in scanner.position..<scanner.end {
            switch scanner.bytes[index] {
            case 0x00...0x20, 0x22, 0x3C, 0x3E, 0x7F...0xFF: return false
            case 0x25 where !Self.isEscape(scanner, index, scanner.end): return false
            default: continue
            }
        }
        scanner.position = scanner.end
        return true
    }

    private static func isEscape(_ scanner: ByteScanner, _ index: Int, _ end: Int) -> Bool {
        index + 2 < end && scanner.isClass(scanner.bytes[index + 1], ASCII.hex) && scanner.isClass(scanner.bytes[index + 2], ASCII.hex)
    }

    /// Reads a host name, IPv4 address or bracketed IPv6 reference; the range excludes the brackets.
    static func readHost(_ scanner: inout ByteScanner) -> Range<Int>? {
        guard scanner.consume(0x5B) else {
            guard let name = scanner.run(of: ASCII.host), scanner.bytes[name.lowerBound] != 0x2E else { return nil }
            return name
        }
        let start = scanner.position
        var colons = 0
        while let byte = scanner.current, byte != 0x5D {
            if byte == 0x3A { colons += 1 } else if !scanner.isClass(byte, ASCII.hex), byte != 0x2E { return nil }
            scanner.position += 1
        }
        let range = start..<scanner.position
        guard scanner.consume(0x5D), colons >= 2, range.count <= 45 else { return nil }
        return range
    }
}

extension SIPURI {
    init?(_ scanner: ByteScanner, _ spans: URISpans) {
        let scheme: Scheme
        if spans.scheme.count == 3, scanner.matches(spans.scheme, "sip") {
            scheme = .sip
        } else {
            scheme = Scheme(rawValue: ASCII.lowercased(scanner.string(spans.scheme)))
        }
        switch spans.kind {
        case .opaque:
            self.init(opaque: scanner.string(spans.host), scheme: scheme)
        case .userAtHost, .telephone:
            var tail = ByteScanner(scanner.bytes, spans.parameters)
            guard let parameters = SIPParameters(uri: &tail) else { return nil }
            self.init(
                scheme, user: spans.user.map(scanner.string), host: scanner.string(spans.host), port: spans.port, parameters: parameters)
            password = spans.password.map(scanner.string)
            headers = spans.headers.map(scanner.string)
        }
    }
}
