/// A JSON value (RFC 8259) with its line, so that errors in tables can name the line.
///
/// Supports the needs of tables and vectors: members keep their order, numbers are integers or doubles, depth is limited to 32.
package struct JSONValue: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        case null
        case bool(Bool)
        case integer(Int)
        case double(Double)
        case string(String)
        case array([JSONValue])
        case object([Member])
    }

    package struct Member: Sendable, Equatable {
        package var name: String
        package var value: JSONValue
    }

    package var kind: Kind
    /// Line of the value's first character, from 1.
    package var line: Int

    package init(kind: Kind, line: Int = 0) {
        self.kind = kind
        self.line = line
    }

    package var string: String? { if case .string(let text) = kind { text } else { nil } }
    package var integer: Int? { if case .integer(let number) = kind { number } else { nil } }
    package var bool: Bool? { if case .bool(let flag) = kind { flag } else { nil } }
    package var array: [JSONValue]? { if case .array(let values) = kind { values } else { nil } }
    package var members: [Member]? { if case .object(let members) = kind { members } else { nil } }
    package var isNull: Bool { kind == .null }

    /// The value of the first member with a name; nil if there is none, or the value is no object.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = kind else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// A list of strings, from an array or from a single string; nil for other values.
    package var strings: [String]? {
        if let string { return [string] }
        guard let array else { return nil }
        var result: [String] = []
        for value in array {
            guard let text = value.string else { return nil }
            result.append(text)
        }
        return result
    }

    /// Parses one JSON text.
    package static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
        var reader = JSONReader(bytes: bytes)
        let value = try reader.value(depth: 0)
        reader.skipBlanks()
        guard reader.isAtEnd else { throw reader.error("text after the end of the value") }
        return value
    }
}

/// A syntax error in a JSON text.
package struct JSONError: Error, Sendable, Equatable {
    package var line: Int
    package var message: String
}

private struct JSONReader {
    let bytes: [UInt8]
    var index = 0
    var line = 1

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { index >= bytes.count }

    func error(_ message: String) -> JSONError { JSONError(line: line, message: message) }

    mutating func skipBlanks() {
        while index < bytes.count {
            switch bytes[index] {
            case 0x0A:
                line += 1
                index += 1
            case 0x20, 0x09, 0x0D: index += 1
            default: return
            }
        }
    }

    mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        guard depth < 32 else { throw error("nested deeper than 32") }
        skipBlanks()
        guard index < bytes.count else { throw error("a value is missing") }
        let start = line
        switch bytes[index] {
        case UInt8(ascii: "{"): return JSONValue(kind: .object(try members(depth: depth)), line: start)
        case UInt8(ascii: "["): return JSONValue(kind: .array(try elements(depth: depth)), line: start)
        case UInt8(ascii: "\""): return JSONValue(kind: .string(try string()), line: start)
        case UInt8(ascii: "t"): return JSONValue(kind: try word("true", .bool(true)), line: start)
        case UInt8(ascii: "f"): return JSONValue(kind: try word("false", .bool(false)), line: start)
        case UInt8(ascii: "n"): return JSONValue(kind: try word("null", .null), line: start)
        default: return JSONValue(kind: try number(), line: start)
        }
    }

    private mutating func word(_ text: StaticString, _ kind: JSONValue.Kind) throws(JSONError) -> JSONValue.Kind {
        for offset in 0..<text.utf8CodeUnitCount {
            guard index + offset < bytes.count, bytes[index + offset] == text.utf8Start[offset] else { throw error("not a value") }
        }
        index += text.utf8CodeUnitCount
        return kind
    }

    private mutating func members(depth: Int) throws(JSONError) -> [JSONValue.Member] {
        var result: [JSONValue.Member] = []
        index += 1
        skipBlanks()
        if index < bytes.count, bytes[index] == UInt8(ascii: "}") {
            index += 1
            return result
        }
        while true {
            skipBlanks()
            guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { throw error("a member name in quotes is missing") }
            let name = try string()
            guard !result.contains(where: { $0.name == name }) else { throw error("member \"\(name)\" stands twice") }
            skipBlanks()
            guard index < bytes.count, bytes[index] == UInt8(ascii: ":") else { throw error("a colon is missing after \"\(name)\"") }
            index += 1
            result.append(JSONValue.Member(name: name, value: try value(depth: depth + 1)))
            skipBlanks()
            guard index < bytes.count else { throw error("the object does not end") }
            index += 1
            if bytes[index - 1] == UInt8(ascii: "}") { return result }
            guard bytes[index - 1] == UInt8(ascii: ",") else { throw error("a comma or the end of the object is missing") }
        }
    }

    private mutating func elements(depth: Int) throws(JSONError) -> [JSONValue] {
        var result: [JSONValue] = []
        index += 1
        skipBlanks()
        if index < bytes.count, bytes[index] == UInt8(ascii: "]") {
            index += 1
            return result
        }
        while true {
            result.append(try value(depth: depth + 1))
            skipBlanks()
            guard index < bytes.count else { throw error("the array does not end") }
            index += 1
            if bytes[index - 1] == UInt8(ascii: "]") { return result }
            guard bytes[index - 1] == UInt8(ascii: ",") else { throw error("a comma or the end of the array is missing") }
        }
    }

    private mutating func number() throws(JSONError) -> JSONValue.Kind {
        let start = index
        scan: while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"),
                UInt8(ascii: "E"):
                index += 1
            default: break scan
            }
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if let integer = Int(text) { return .integer(integer) }
        if let double = Double(text) { return .double(double) }
        throw error("not a value")
    }

    private mutating func string() throws(JSONError) -> String {
        index += 1
        var content: [UInt8] = []
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: content, as: UTF8.self) else { throw error("not UTF-8") }
                return text
            case UInt8(ascii: "\\"): try escape(into: &content)
            case 0..<0x20: throw error("a control character in a string")
            default: content.append(byte)
            }
        }
        throw error("the string does not end")
    }

    private mutating func escape(into content: inout [UInt8]) throws(JSONError) {
        guard index < bytes.count else { throw error("the string does not end") }
        let byte = bytes[index]
        index += 1
        switch byte {
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(byte)
        case UInt8(ascii: "u"):
            var code = try hexadecimal()
            if (0xD800..<0xDC00).contains(code), index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"),
                bytes[index + 1] == UInt8(ascii: "u")
            {
                index += 2
                let low = try hexadecimal()
                guard (0xDC00..<0xE000).contains(low) else { throw error("half of a surrogate pair") }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw error("half of a surrogate pair") }
            content.append(contentsOf: Array(String(scalar).utf8))
        default: throw error("an unknown escape")
        }
    }

    private mutating func hexadecimal() throws(JSONError) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            // Not by UInt32(_:radix:), which accepts a sign.
            guard index < bytes.count, let digit = Character(Unicode.Scalar(bytes[index])).hexDigitValue else {
                throw error("four hexadecimal digits are missing")
            }
            code = code << 4 | UInt32(digit)
            index += 1
        }
        return code
    }
}
