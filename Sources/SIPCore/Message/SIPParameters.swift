/// Parameters `;name=value` of a header or URI (RFC 3261 25.1): ordered; names are compared ignoring case.
public struct SIPParameters: Hashable, Sendable, CustomStringConvertible {
    /// Parameter of a header or URI.
    public struct Parameter: Hashable, Sendable {
        /// Name as written.
        public var name: String
        /// Value without quotes and escapes; nil for a parameter without `=`.
        public var value: String?
        /// Whether the value is written in quotes even if it needs none.
        public var isQuoted: Bool

        /// Creates a parameter; by default without value and quotes.
        public init(_ name: String, _ value: String? = nil, isQuoted: Bool = false) {
            self.name = name
            self.value = value
            self.isQuoted = isQuoted
        }
    }

    /// Parameters in order, duplicates included.
    public private(set) var all: [Parameter]

    /// Creates a list of parameters; by default an empty one.
    public init(_ all: [Parameter] = []) { self.all = all }

    /// Whether there are no parameters.
    public var isEmpty: Bool { all.isEmpty }

    /// Value of the first parameter with this name; nil if absent or without value. Setting nil removes all with this name.
    public subscript(name: String) -> String? {
        get { all.first { ASCII.equal($0.name, name) }?.value }
        set {
            guard let newValue else { return remove(name) }
            set(name, newValue)
        }
    }

    /// Whether a parameter with this name is present, with or without a value.
    public func contains(_ name: String) -> Bool { all.contains { ASCII.equal($0.name, name) } }

    /// Replaces the value of the first parameter with this name, or appends one; nil writes the name alone.
    public mutating func set(_ name: String, _ value: String?, isQuoted: Bool = false) {
        if let index = all.firstIndex(where: { ASCII.equal($0.name, name) }) {
            all[index].value = value
            all[index].isQuoted = isQuoted
        } else {
            all.append(Parameter(name, value, isQuoted: isQuoted))
        }
    }

    /// Removes every parameter with this name.
    public mutating func remove(_ name: String) { all.removeAll { ASCII.equal($0.name, name) } }

    /// Written form in a header: `;a=b;c="d e"`.
    public var description: String {
        var text = ""
        write(to: &text)
        return text
    }

    /// Appends the written form in a header.
    func write(to text: inout String) {
        for parameter in all {
            text += ";"
            text += parameter.name
            guard let value = parameter.value else { continue }
            text += "="
            text += parameter.isQuoted || !Self.canStandUnquoted(value) ? Self.quoted(value) : value
        }
    }

    /// Written form in a URI, without quotes.
    var uriDescription: String {
        var text = ""
        for parameter in all {
            text += ";"
            text += parameter.name
            if let value = parameter.value { text += "=" + value }
        }
        return text
    }

    private static func canStandUnquoted(_ value: String) -> Bool {
        if value.isEmpty { return false }
        for byte in value.utf8 {
            switch byte {
            case 0x00...0x20, 0x22, 0x2C, 0x3B, 0x3C, 0x3E, 0x5C, 0x7F...0xFF: return false
            default: continue
            }
        }
        return true
    }

    /// Quoted-string with this content (RFC 3261 25.1).
    static func quoted(_ value: String) -> String {
        var text = "\""
        for scalar in value.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { text.unicodeScalars.append("\\") }
            text.unicodeScalars.append(scalar)
        }
        text.unicodeScalars.append("\"")
        return text
    }
}

extension SIPParameters {
    /// Parses `*( SEMI generic-param )` of a header; nil if one is malformed. A lone `;` is skipped.
    init?(scanner: inout ByteScanner) {
        var all: [Parameter] = []
        let isSound = Self.scan(&scanner) { scanner, name, value, isQuoted in
            all.append(
                Parameter(
                    scanner.string(name), value.map { isQuoted ? scanner.unquoted($0) : scanner.string($0) }, isQuoted: isQuoted))
        }
        guard isSound else { return nil }
        self.all = all
    }

    /// Visits the parameters of a header without creating strings; false if one is malformed.
    @inline(__always)
    static func scan(_ scanner: inout ByteScanner, _ visit: (ByteScanner, Range<Int>, Range<Int>?, Bool) -> Void) -> Bool {
        while scanner.consumeSpaced(0x3B) {
            guard let name = scanner.token() else {
                if scanner.isAtEnd || scanner.current == 0x3B || scanner.current == 0x2C { continue }
                return false
            }
            guard scanner.consumeSpaced(0x3D) else {
                visit(scanner, name, nil, false)
                continue
            }
            if scanner.current == 0x22 {
                guard let value = scanner.quotedString() else { return false }
                visit(scanner, name, value, true)
            } else {
                let start = scanner.position
                while let byte = scanner.current {
                    switch byte {
                    case 0x3B, 0x2C, 0x20, 0x09, 0x22, 0x3C, 0x3E: break
                    default:
                        scanner.position += 1
                        continue
                    }
                    break
                }
                visit(scanner, name, start..<scanner.position, false)
            }
        }
        return true
    }

    /// Parses `*( ";" uri-parameter )` to the end of the range; nil if one is malformed.
    init?(uri scanner: inout ByteScanner) {
        var all: [Parameter] = []
        while scanner.consume(0x3B) {
            guard let name = Self.uriWord(&scanner) else {
                if scanner.isAtEnd || scanner.current == 0x3B { continue }
                return nil
            }
            guard scanner.consume(0x3D) else {
                all.append(Parameter(scanner.string(name)))
                continue
            }
            let value = Self.uriWord(&scanner)
            all.append(Parameter(scanner.string(name), value.map(scanner.string) ?? ""))
        }
        guard scanner.isAtEnd || scanner.current == 0x3F else { return nil }
        self.all = all
    }

    private static func uriWord(_ scanner: inout ByteScanner) -> Range<Int>? {
        let start = scanner.position
        while let byte = scanner.current, byte != 0x3D, byte != 0x3B, scanner.isClass(byte, ASCII.uriParameter) { scanner.position += 1 }
        return scanner.position > start ? start..<scanner.position : nil
    }
}
