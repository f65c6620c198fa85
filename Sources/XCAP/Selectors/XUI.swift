import SIPCore

/// XCAP User Identifier (RFC 4825 4): the address-of-record of a user, the same for all its spellings.
public struct XUI: Hashable, Sendable, CustomStringConvertible {
    /// One spelling: `sip:user@domain` with the domain in lower case, or `tel:+digits`.
    public let description: String

    /// Creates an identifier of a `sip:`, `sips:`, `pres:` or `tel:` URI, or of a bare `user@domain`; nil for anything else.
    public init?(_ text: String) {
        let schemes = ["sip:", "sips:", "pres:", "tel:"]
        let start = text.prefix(5).lowercased()
        let hasScheme = schemes.contains { start.hasPrefix($0) }
        let isBare = text.split(separator: "@", omittingEmptySubsequences: false).count == 2 && !text.prefix { $0 != "@" }.contains(":")
        guard hasScheme || isBare, let uri = SIPURI(hasScheme ? text : "sip:" + text), uri.opaque == nil,
            let user = uri.user, !user.isEmpty, uri.scheme == .tel ? uri.aorKey != "tel:" : !uri.domainKey.isEmpty
        else { return nil }
        // A host with an empty label is no domain; its keys would differ with each reading.
        guard uri.scheme == .tel || !uri.domainKey.split(separator: ".", omittingEmptySubsequences: false).contains("") else { return nil }
        description = uri.aorKey
    }
}
