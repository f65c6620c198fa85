import SIPCore

/// Error for a text that is not a transport address.
package struct AddressTextError: Error, Hashable {
    package var rule: String
}

extension TransportAddress {
    /// Reads `udp:127.0.0.1:5060`, `tcp:[::1]:5060` or `tcp:sip.example.org` (default port of the transport).
    ///
    /// - Throws: `AddressTextError` with the broken rule.
    package static func parse(_ text: String) throws(AddressTextError) -> TransportAddress {
        guard let colon = text.firstIndex(of: ":"), let transport = TransportProtocol(rawValue: String(text[..<colon])) else {
            throw AddressTextError(rule: "must be udp:HOST:PORT, tcp:HOST:PORT or tls:HOST:PORT")
        }
        let (host, port) = try parseHostPort(text[text.index(after: colon)...], defaultPort: transport.defaultPort)
        return TransportAddress(transport, host, port)
    }

    /// Reads `HOST:PORT`, `[IPV6]:PORT` or `HOST`.
    package static func parseHostPort(_ text: Substring, defaultPort: Int?) throws(AddressTextError) -> (host: String, port: Int) {
        var host = text
        var portText: Substring?
        if text.hasPrefix("[") {
            guard let bracket = text.firstIndex(of: "]") else { throw AddressTextError(rule: "has no closing bracket") }
            host = text[text.index(after: text.startIndex)..<bracket]
            let rest = text[text.index(after: bracket)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { throw AddressTextError(rule: "has text after the closing bracket") }
            if rest.hasPrefix(":") { portText = rest.dropFirst() }
        } else if let colon = text.lastIndex(of: ":") {
            host = text[..<colon]
            portText = text[text.index(after: colon)...]
            guard !host.contains(":") else { throw AddressTextError(rule: "an IPv6 address needs brackets: [::1]") }
        }
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "@") }) else {
            throw AddressTextError(rule: "has no valid host")
        }
        guard let portText else {
            guard let defaultPort else { throw AddressTextError(rule: "has no port") }
            return (String(host), defaultPort)
        }
        guard let port = Int(portText), (0...65_535).contains(port), portText.utf8.allSatisfy({ (48...57).contains($0) }) else {
            throw AddressTextError(rule: "the port must be a number from 0 to 65535")
        }
        return (String(host), port)
    }
}
