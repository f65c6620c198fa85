/// Name-addr: a URI with optional display name and header parameters; the value of From, To, Contact, Route, Record-Route and
/// P-Asserted-Identity (RFC 3261 20.10, 20.20, 20.39).
public struct NameAddr: Hashable, Sendable, CustomStringConvertible {
    /// Display name without quotes and escapes; nil when absent.
    public var displayName: String?
    /// URI between the angle brackets.
    public var uri: SIPURI
    /// Header parameters, such as `tag`.
    public var parameters: SIPParameters

    /// Creates a value; by default without display name and parameters.
    public init(_ uri: SIPURI, displayName: String? = nil, parameters: SIPParameters = SIPParameters()) {
        self.displayName = displayName
        self.uri = uri
        self.parameters = parameters
    }

    /// Reads the whole text as one value; nil if it is malformed.
    public init?(_ text: String) {
        guard let value = Self.scanWhole(text) else { return nil }
        self = value
    }

    /// Parameter `tag` of From and To (RFC 3261 19.3); nil when absent.
    public var tag: String? {
        get { parameters["tag"] }
        set { parameters["tag"] = newValue }
    }

    /// Endpoint identifier of MS-SIP (`epid`); its length is not checked.
    public var epid: String? { parameters["epid"] }

    /// Written form, with the URI in angle brackets, so that parameters belong to the header.
    public var description: String {
        var text = ""
        if let displayName { text = SIPParameters.quoted(displayName) + " " }
        text += "<\(uri)>"
        text += parameters.description
        return text
    }
}

/// Ranges of the parts of a name-addr or addr-spec; finding them checks the grammar without creating a string.
struct NameAddrSpans {
    var display: Range<Int>?
    var isDisplayQuoted = false
    var uri: Range<Int>
    var uriSpans: URISpans
    /// Start of the header parameters.
    var parametersStart: Int

    init?(_ scanner: inout ByteScanner) {
        scanner.skipLWS()
        if scanner.current == 0x22 {
            guard let quoted = scanner.quotedString() else { return nil }
            display = quoted
            isDisplayQuoted = true
            scanner.skipLWS()
            guard scanner.current == 0x3C else { return nil }
        } else if scanner.current != 0x3C {
            let start = scanner.position
            var index = start
            search: while index < scanner.end {
                switch scanner.bytes[index] {
                case 0x3C:
                    let name = scanner.trimmed(start..<index)
                    for offset in name {
                        let byte = scanner.bytes[offset]
                        guard scanner.isClass(byte, ASCII.token) || byte == 0x20 || byte == 0x09 || byte >= 0x80 else { return nil }
                    }
                    if !name.isEmpty { display = name }
                    scanner.position = index
                    break search
                case 0x2C, 0x3B, 0x3A, 0x22:
                    break search
                default:
                    index += 1
                }
            }
        }
        if scanner.consume(0x3C) {
            let start = scanner.position
            // The grammar of the URI decides which characters may be inside.
            while scanner.position < scanner.end, scanner.bytes[scanner.position] != 0x3E { scanner.position += 1 }
            uri = start..<scanner.position
            guard scanner.consume(0x3E) else { return nil }
        } else {
            let start = scanner.position
            while let byte = scanner.current {
                // Without brackets `?` is not allowed, and `;` or `,` ends the URI.
                if byte == 0x3F || byte == 0x3E { return nil }
                if byte == 0x3B || byte == 0x2C || byte <= 0x20 { break }
                scanner.position += 1
            }
            uri = start..<scanner.position
        }
        guard let spans = URISpans(ByteScanner(scanner.bytes, uri)) else { return nil }
        uriSpans = spans
        parametersStart = scanner.position
    }
}

extension NameAddr: ScannedValue {
    init?(scanner: inout ByteScanner) {
        guard let spans = NameAddrSpans(&scanner), let uri = SIPURI(scanner, spans.uriSpans),
            let parameters = SIPParameters(scanner: &scanner)
        else { return nil }
        self.uri = uri
        self.parameters = parameters
        displayName = spans.display.map { spans.isDisplayQuoted ? scanner.unquoted($0) : scanner.string($0) }
    }

    /// Checks one value and finds its tag without creating a string; nil if it is malformed.
    static func scanTag(_ scanner: inout ByteScanner) -> Range<Int>?? {
        guard NameAddrSpans(&scanner) != nil else { return nil }
        var tag: Range<Int>?
        let isSound = SIPParameters.scan(&scanner) { scanner, name, value, _ in
            if name.count == 3, scanner.matches(name, "tag") { tag = value }
        }
        scanner.skipLWS()
        guard isSound, scanner.isAtEnd else { return nil }
        return .some(tag)
    }
}
