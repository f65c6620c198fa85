/// Media type with parameters: the value of Content-Type and one element of Accept (RFC 3261 20.1, 20.15).
public struct MediaType: Hashable, Sendable, CustomStringConvertible {
    /// Type as written; compare with ``isSame(as:)``.
    public var type: String
    /// Subtype as written; compare with ``isSame(as:)``.
    public var subtype: String
    /// Header parameters, including `q` of an Accept element.
    public var parameters: SIPParameters

    /// Creates a media type; by default without parameters.
    public init(_ type: String, _ subtype: String, parameters: SIPParameters = SIPParameters()) {
        self.type = type
        self.subtype = subtype
        self.parameters = parameters
    }

    /// Reads the whole text; nil if it is malformed.
    public init?(_ text: String) {
        guard let value = Self.scanWhole(text) else { return nil }
        self = value
    }

    /// Lower-case `type/subtype`, without parameters.
    public var essence: String { ASCII.lowercased(type + "/" + subtype) }

    /// Whether ``essence`` equals a text, without creating a string.
    public func hasEssence(_ text: String) -> Bool {
        var rest = text.utf8[...]
        for byte in type.utf8 where rest.popFirst() != ASCII.lower(byte) { return false }
        guard rest.popFirst() == 0x2F else { return false }
        for byte in subtype.utf8 where rest.popFirst() != ASCII.lower(byte) { return false }
        return rest.isEmpty
    }

    /// Whether type and subtype are equal, ignoring case and parameters.
    public func isSame(as other: MediaType) -> Bool { ASCII.equal(type, other.type) && ASCII.equal(subtype, other.subtype) }

    /// Whether this Accept element, which may be `*/*` or `type/*`, covers the media type.
    public func accepts(_ other: MediaType) -> Bool {
        if type == "*" { return true }
        return ASCII.equal(type, other.type) && (subtype == "*" || ASCII.equal(subtype, other.subtype))
    }

    /// Quality of an Accept element in thousandths, 0 to 1000; 1000 when absent or malformed (RFC 3261 20.1, RFC 2616 14.1).
    public var quality: Int {
        guard let text = parameters["q"] else { return 1000 }
        let digits = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let whole = digits.first.flatMap({ Int($0) }), whole == 0 || whole == 1 else { return 1000 }
        if whole == 1 { return 1000 }
        guard digits.count == 2 else { return 0 }
        let fraction = digits[1].prefix(3)
        guard let value = Int(fraction) ?? (fraction.isEmpty ? 0 : nil), value >= 0 else { return 1000 }
        return value * [1000, 100, 10, 1][fraction.utf8.count]
    }

    public var description: String { "\(type)/\(subtype)" + parameters.description }
}

extension MediaType: ScannedValue {
    init?(scanner: inout ByteScanner) {
        guard let type = scanner.token(), scanner.consumeSpaced(0x2F), let subtype = scanner.token(),
            let parameters = SIPParameters(scanner: &scanner)
        else { return nil }
        self.type = scanner.string(type)
        self.subtype = scanner.string(subtype)
        self.parameters = parameters
    }
}
