/// Attribute values as XML 1.0 writes them (production AttValue, 3.3.3).
enum AttributeValue {
    /// Resolves references to characters and to the five predefined entities; nil for `<` and for `&` without such a reference.
    static func decode(_ octets: [UInt8]) -> String? {
        guard octets.contains(where: { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "<") }) else {
            return String(decoding: octets, as: UTF8.self)
        }
        var result: [UInt8] = []
        var rest = octets[...]
        while let octet = rest.popFirst() {
            if octet == UInt8(ascii: "<") { return nil }
            guard octet == UInt8(ascii: "&") else {
                result.append(octet)
                continue
            }
            guard let end = rest.prefix(12).firstIndex(of: UInt8(ascii: ";")), let scalar = reference(rest[..<end]) else { return nil }
            result.append(contentsOf: String(Character(scalar)).utf8)
            rest = rest[(end + 1)...]
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func reference(_ name: ArraySlice<UInt8>) -> Unicode.Scalar? {
        let text = String(decoding: name, as: UTF8.self)
        switch text {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard name.first == UInt8(ascii: "#") else { return nil }
            let isHexadecimal = text.dropFirst().hasPrefix("x")
            let digits = text.dropFirst(isHexadecimal ? 2 : 1)
            guard digits.utf8.first != UInt8(ascii: "+"), digits.utf8.first != UInt8(ascii: "-") else { return nil }
            return UInt32(digits, radix: isHexadecimal ? 16 : 10).flatMap(Unicode.Scalar.init)
        }
    }
}
