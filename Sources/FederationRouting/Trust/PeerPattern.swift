import SIPCore

/// A configured identification of a partner's servers: addresses apply without TLS, names must be proved by a certificate.
public enum PeerPattern: Hashable, Sendable, CustomStringConvertible {
    /// An address or a block of addresses.
    case addresses(AddressBlock)
    /// A host or domain name in lower case.
    case name(String)

    /// Parses an address, block or name; nil for other texts.
    public init?(_ text: String) {
        if let block = AddressBlock(text) {
            self = .addresses(block)
            return
        }
        let name = SIPURI(host: text).domainKey
        // A name needs a letter: a mistyped address must not be taken for a name.
        guard name.utf8.contains(where: { (0x61...0x7A).contains($0) }), Self.isName(name) else { return nil }
        self = .name(name)
    }

    private static func isName(_ text: String) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        return labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.utf8.first != UInt8(ascii: "-")
                && label.utf8.allSatisfy { $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) }
        }
    }

    /// The block or name as text.
    public var description: String {
        switch self {
        case .addresses(let block): block.description
        case .name(let name): name
        }
    }
}
