import SIPCore

/// The signed text of a message: selected values as they are spelled, each in angle brackets; absent values are `<>` (MS-SIPAE
/// 3.1.4.1).
///
/// Protocol versions 3 and later have 16 items, including To and the asserted identities; earlier ones have 13. A response adds its
/// status.
struct SignatureBuffer {
    /// The parameters of the signing header.
    struct Header {
        var scheme: String
        /// `crand` or `srand`.
        var random: String
        /// `cnum` or `snum` in decimal digits.
        var number: String
        var realm: String
        var targetName: String
    }

    let text: String

    /// - Parameter status: The status of a response; nil for a request.
    init(_ header: Header, _ message: SIPHeaders, status: SIPStatus?, version: Int) {
        let from = Self.address(message.first(.from) ?? "")
        let to = Self.address(message.first(.to) ?? "")
        let cSeq = (message.first(.cSeq) ?? "").split(whereSeparator: { $0 == " " || $0 == "\t" }).map(String.init)
        var items = [
            header.scheme, header.random, header.number, header.realm, header.targetName, message.first(.callID) ?? "",
            cSeq.first ?? "", cSeq.count > 1 ? cSeq[1] : "", from, message.fromTag ?? "",
        ]
        if version >= 3 { items.append(to) }
        items.append(message.toTag ?? "")
        if version >= 3 {
            let identities = Self.identities(message)
            items.append(identities.first { Self.hasScheme($0, "sip:") || Self.hasScheme($0, "sips:") } ?? "")
            items.append(identities.first { Self.hasScheme($0, "tel:") } ?? "")
        }
        items.append(message.first(.expires) ?? "")
        if let status { items.append(String(status.rawValue)) }
        text = items.map { "<\($0)>" }.joined()
    }

    private static func identities(_ message: SIPHeaders) -> [String] {
        let asserted = message.list(.pAssertedIdentity)
        return (asserted.isEmpty ? message.list(.pPreferredIdentity) : asserted).map(address)
    }

    private static func hasScheme(_ uri: String, _ scheme: String) -> Bool { uri.prefix(scheme.count).lowercased() == scheme }

    /// The URI of From, To or an identity as written, without brackets, display name and header parameters.
    static func address(_ value: String) -> String {
        let bytes = Array(value.utf8)
        var index = 0
        var isQuoted = false
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\\") where isQuoted: index += 1
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: "<") where !isQuoted:
                let end = bytes[(index + 1)...].firstIndex(of: UInt8(ascii: ">")) ?? bytes.endIndex
                return String(decoding: bytes[(index + 1)..<end], as: UTF8.self)
            default: break
            }
            index += 1
        }
        let bare = bytes.prefix { $0 != UInt8(ascii: ";") }.drop { $0 <= 0x20 }
        return String(decoding: bare.prefix { $0 > 0x20 }, as: UTF8.self)
    }
}
