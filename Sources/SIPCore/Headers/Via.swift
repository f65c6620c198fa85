/// Via value (RFC 3261 20.42, RFC 3581).
public struct Via: Hashable, Sendable, CustomStringConvertible {
    /// Transport token as written, such as `TCP`; see ``transport``.
    public var transportToken: String
    /// Host of sent-by, without brackets.
    public var sentByHost: String
    /// Port of sent-by, at most 65535; nil when absent.
    public var sentByPort: Int?
    /// Header parameters, such as `branch`, `received` and `rport`.
    public var parameters: SIPParameters

    /// Creates a value with this branch and the upper-case transport token.
    public init(_ transport: TransportProtocol, host: String, port: Int?, branch: String) {
        transportToken = transport.rawValue.uppercased()
        sentByHost = host
        sentByPort = port
        parameters = SIPParameters([.init("branch", branch)])
    }

    /// Reads the whole text as one value; nil if it is malformed.
    public init?(_ text: String) {
        guard let value = Self.scanWhole(text) else { return nil }
        self = value
    }

    /// Transport; nil for one that this stack does not support.
    public var transport: TransportProtocol? { TransportProtocol(rawValue: ASCII.lowercased(transportToken)) }

    /// Parameter `branch`; nil when absent.
    public var branch: String? {
        get { parameters["branch"] }
        set { parameters["branch"] = newValue }
    }

    /// Whether the branch has the cookie `z9hG4bK` of RFC 3261, and so identifies the transaction.
    public var hasCookie: Bool { branch.map { $0.utf8.count > 7 && ASCII.equal($0.prefix(7), "z9hG4bK") } ?? false }

    /// Source address of the packet, added by the receiver (RFC 3261 18.2.1); without brackets, nil when absent.
    public var received: String? {
        get {
            guard let value = parameters["received"] else { return nil }
            return value.utf8.first == 0x5B ? String(value.dropFirst().prefix { $0 != "]" }) : value
        }
        set { parameters["received"] = newValue }
    }

    /// Source port of the packet, 1 to 65535 (RFC 3581); nil when absent, without value or out of range.
    public var rport: Int? {
        get { parameters["rport"].flatMap { Int($0) }.flatMap { (1...65535).contains($0) ? $0 : nil } }
        set { parameters.set("rport", newValue.map(String.init)) }
    }

    /// Whether the sender requests symmetric response routing (RFC 3581 3).
    public var wantsRport: Bool { parameters.contains("rport") }

    /// Host for responses to a datagram, without brackets; nil when absent or empty (RFC 3261 18.2.2).
    public var maddr: String? {
        guard let value = parameters["maddr"], !value.isEmpty else { return nil }
        return Self.withoutBrackets(value)
    }

    static func withoutBrackets(_ host: String) -> String {
        host.utf8.first == 0x5B && host.utf8.last == 0x5D ? String(host.dropFirst().dropLast()) : host
    }

    /// Lower-case `host:port`; without port if none is written.
    public var sentBy: String {
        var text = ASCII.lowercased(sentByHost)
        if text.utf8.contains(0x3A) { text = "[" + text + "]" }
        if let sentByPort {
            text += ":"
            text += String(sentByPort)
        }
        return text
    }

    public var description: String {
        var text = "SIP/2.0/"
        text.reserveCapacity(128)
        text += transportToken
        text += " "
        text += sentByHost.utf8.contains(0x3A) ? "[" + sentByHost + "]" : sentByHost
        if let sentByPort {
            text += ":"
            text += String(sentByPort)
        }
        parameters.write(to: &text)
        return text
    }
}

/// Ranges of the parts of a Via value.
struct ViaSpans {
    var transport: Range<Int>
    var host: Range<Int>
    var port: Int?
    /// Host and port as written.
    var sentBy: Range<Int>

    init?(_ scanner: inout ByteScanner) {
        scanner.skipLWS()
        guard let name = scanner.token(), scanner.matches(name, "sip"), scanner.consumeSpaced(0x2F), let version = scanner.token(),
            scanner.matches(version, "2.0"), scanner.consumeSpaced(0x2F), let transport = scanner.token()
        else { return nil }
        self.transport = transport
        let gap = scanner.position
        scanner.skipLWS()
        let start = scanner.position
        guard start > gap, let host = URISpans.readHost(&scanner) else { return nil }
        self.host = host
        sentBy = start..<scanner.position
        if scanner.consumeSpaced(0x3A) {
            guard let value = scanner.number(limit: 65535) else { return nil }
            port = Int(value)
            sentBy = start..<scanner.position
        }
    }
}

extension ViaSpans {
    /// Whether ``Via/sentBy`` of this value equals the text at a place of a sent message.
    func isSentBy(_ sent: UnsafeBufferPointer<UInt8>, _ place: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        // Nearly all responses have it as it was sent.
        if sent.isEqual(place, to: bytes, sentBy) { return true }
        var rest = sent[place]
        let isLiteral = bytes[host].contains(0x3A)
        if isLiteral, rest.popFirst() != 0x5B { return false }
        for byte in bytes[host] {
            guard rest.popFirst() == ASCII.lower(byte) else { return false }
        }
        if isLiteral, rest.popFirst() != 0x5D { return false }
        guard var digits = port else { return rest.isEmpty }
        repeat {
            guard rest.popLast() == 0x30 + UInt8(digits % 10) else { return false }
            digits /= 10
        } while digits > 0
        return rest.popLast() == 0x3A && rest.isEmpty
    }
}

extension Via: ScannedValue {
    init?(scanner: inout ByteScanner) {
        guard let spans = ViaSpans(&scanner), let parameters = SIPParameters(scanner: &scanner) else { return nil }
        transportToken = scanner.string(spans.transport)
        sentByHost = scanner.string(spans.host)
        sentByPort = spans.port
        self.parameters = parameters
    }
}
