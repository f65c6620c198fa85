/// A SIP address reduced to what comparisons in MS-PRES look at: no scheme, no parameters, host in lower case (MS-PRES 4.9.1).
public struct PresenceAddress: Hashable, Sendable, CustomStringConvertible {
    /// `user@host`, or the whole text where there is no host.
    public let text: String
    /// The host in lower case; empty where there is none.
    public let domain: String

    /// Reads `sip:user@host;parameters`, `user@host`, also within angle brackets; never fails.
    public init(_ uri: String) {
        var bytes = Array(uri.utf8)[...]
        bytes = bytes.trimmed()
        if bytes.first == UInt8(ascii: "<"), let end = bytes.firstIndex(of: UInt8(ascii: ">")) {
            bytes = bytes[bytes.index(after: bytes.startIndex)..<end].trimmed()
        }
        for scheme in ["sip:", "sips:"] where bytes.startsCaseless(scheme) {
            bytes = bytes.dropFirst(scheme.utf8.count)
            break
        }
        let at = bytes.firstIndex(of: UInt8(ascii: "@"))
        let hostStart = at.map { bytes.index(after: $0) } ?? bytes.startIndex
        let end = bytes[hostStart...].firstIndex { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "?") } ?? bytes.endIndex
        let host = bytes[hostStart..<end].map(\.lowercasedASCII)
        guard let at else {
            text = String(decoding: host, as: UTF8.self)
            domain = ""
            return
        }
        domain = String(decoding: host, as: UTF8.self)
        text = String(decoding: bytes[..<at], as: UTF8.self) + "@" + domain
    }

    public var description: String { text }
}

/// The identifier of an endpoint, whose case means nothing (MS-PRES 2.2.2.1).
struct EndpointKey: Hashable {
    private let bytes: [UInt8]
    init(_ endpointID: String) { bytes = endpointID.utf8.map(\.lowercasedASCII) }
}

extension UInt8 {
    /// The letter in lower case; other bytes as they are.
    var lowercasedASCII: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }
}

extension ArraySlice<UInt8> {
    func trimmed() -> ArraySlice<UInt8> {
        var slice = self
        while let first = slice.first, first <= 0x20 { slice = slice.dropFirst() }
        while let last = slice.last, last <= 0x20 { slice = slice.dropLast() }
        return slice
    }

    /// Whether the slice starts with `prefix`, which is in lower case.
    func startsCaseless(_ prefix: String) -> Bool {
        count >= prefix.utf8.count && zip(self, prefix.utf8).allSatisfy { $0.lowercasedASCII == $1 }
    }
}
