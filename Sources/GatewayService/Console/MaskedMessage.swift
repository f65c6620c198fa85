/// The text of a message with the values of credentials replaced (RFC 3261 22, RFC 7616, MS-SIPAE).
enum MaskedMessage {
    private static let fields: Set<String> = [
        "authorization", "proxy-authorization", "www-authenticate", "proxy-authenticate", "authentication-info",
        "proxy-authentication-info",
    ]

    /// The message as text; octets that are no UTF-8 become U+FFFD. The scheme of credentials stays, and the rest becomes `...`.
    static func text(_ bytes: [UInt8]) -> String {
        var result = ""
        result.reserveCapacity(bytes.count)
        var rest = bytes[...]
        var isMasked = false
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            let line = String(decoding: rest[..<end].filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
            rest = rest[min(end + 1, rest.endIndex)...]
            if line.isEmpty, !result.isEmpty {
                result += "\n"
                break
            }
            if line.first == " " || line.first == "\t" {
                // A continuation of the field before.
                if !isMasked { result += line + "\n" }
                continue
            }
            let name = line.prefix { $0 != ":" }
            isMasked = fields.contains(name.lowercased().filter { $0 != " " && $0 != "\t" })
            result += (isMasked ? masked(line, name) : line) + "\n"
        }
        return result + String(decoding: rest, as: UTF8.self).replacing("\r\n", with: "\n")
    }

    private static func masked(_ line: String, _ name: Substring) -> String {
        let value = line[name.endIndex...].dropFirst().drop { $0 == " " || $0 == "\t" }
        let scheme = value.prefix { $0.isLetter || $0 == "-" }
        // A field of parameters alone begins with a name and an equals sign.
        let isScheme = value[scheme.endIndex...].first.map { $0 == " " || $0 == "\t" } ?? true
        return "\(name): \(isScheme && !scheme.isEmpty ? scheme + " " : "")..."
    }
}
