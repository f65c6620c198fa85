import SIPCore

/// By what an operator knows a partner's servers: addresses, which count where nothing is encrypted, or names, which a certificate has to
/// prove.
public enum PeerPattern: Hashable, Sendable, CustomStringConvertible {
    case addresses(AddressBlock)
    /// A host or a domain in lower case.
    case name(String)

    /// nil when the text is no address, no block and no name.
    public init?(_ text: String) {
        if let block = AddressBlock(text) {
            self = .addresses(block)
            return
        }
        let name = SIPURI(host: text).domainKey
        // What looks like an address and is none is a mistake of writing, not a name.
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

    public var description: String {
        switch self {
        case .addresses(let block): block.description
        case .name(let name): name
        }
    }
}
