import ByteCoding
import SIPCore
import SIPSecurity

/// The identifier of one endpoint of a user: a UUID, compared ignoring case (MS-SIPRE 3.3.3, MS-PRES 2.2.2.1).
///
/// Sources: `+sip.instance` of Contact, a GRUU, or by derivation the `epid` of From.
public struct EndpointID: Hashable, Sendable, CustomStringConvertible {
    /// The 16 octets of the GUID in Windows order: the first three fields are little-endian.
    let guid: [UInt8]

    /// The UUID as text in lower case, with `8-4-4-4-12` digits.
    public var description: String {
        var text = ""
        for (place, index) in [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15].enumerated() {
            if [4, 6, 8, 10].contains(place) { text += "-" }
            let digits = String(guid[index], radix: 16)
            text += digits.utf8.count < 2 ? "0" + digits : digits
        }
        return text
    }

    /// Parses `8-4-4-4-12` hexadecimal digits, optionally with `urn:uuid:` and angle brackets; nil for anything else.
    public init?(_ text: String) {
        var rest = Substring(text)
        if rest.first == "<", rest.last == ">" { rest = rest.dropFirst().dropLast() }
        if rest.prefix(9).lowercased() == "urn:uuid:" { rest = rest.dropFirst(9) }
        let fields = rest.split(separator: "-", omittingEmptySubsequences: false)
        guard fields.map(\.utf8.count) == [8, 4, 4, 4, 12] else { return nil }
        var octets: [UInt8] = []
        for field in fields {
            var digits = field.utf8[...]
            while let high = digits.popFirst().flatMap(Self.value), let low = digits.popFirst().flatMap(Self.value) {
                octets.append(high << 4 | low)
            }
        }
        guard octets.count == 16 else { return nil }
        guid = Self.swapped(octets)
    }

    /// Derives the identifier from an `epid`: a name-based UUID of version 5. Namespace and result are in Windows octet
    /// order, so that a plain RFC 4122 routine returns another value (MS-SIPRE 3.3.3).
    public init(epid: String) {
        let space: [UInt8] = [0x03, 0xFB, 0xAC, 0xFC, 0x73, 0x8A, 0xEF, 0x46, 0x91, 0xB1, 0xE5, 0xEB, 0xEE, 0xAB, 0xA4, 0xFE]
        var octets = Array(HashAlgorithm.sha1.digest(space + Array(epid.utf8)).prefix(16))
        octets[7] = octets[7] & 0x0F | 0x50
        octets[8] = octets[8] & 0x3F | 0x80
        guid = octets
    }

    // MARK: GRUU

    /// The GRUU of this endpoint of a user: `sip:user@domain;opaque=user:epid:...;gruu` (MS-SIPRE 2.2.3).
    package func gruu(of user: SIPURI) -> SIPURI {
        var uri = user.addressOfRecord()
        uri.parameters = SIPParameters([.init("opaque", Self.opaquePrefix + token), .init("gruu")])
        return uri
    }

    /// The endpoint of a GRUU; nil for any other URI.
    public init?(gruu: SIPURI) {
        guard gruu.isGRUU, let opaque = gruu.opaqueParameter, opaque.hasPrefix(Self.opaquePrefix),
            let octets = Base64.decode(strictly: opaque.dropFirst(Self.opaquePrefix.count), .url), octets.count == 18,
            octets[16] == 0, octets[17] == 0
        else { return nil }
        guid = Array(octets.prefix(16))
    }

    private static let opaquePrefix = "user:epid:"

    /// The 16 octets and two zero octets in base64url: 24 characters.
    private var token: String { Base64.text(guid + [0, 0], .url) }

    // MARK: Octets

    /// Converts octets from text order to Windows order; the conversion is its own inverse.
    private static func swapped(_ octets: [UInt8]) -> [UInt8] {
        [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15].map { octets[$0] }
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x37
        case 0x61...0x66: digit - 0x57
        default: nil
        }
    }
}

extension EndpointID {
    /// The endpoint that sent a request: `+sip.instance` of Contact, else the GRUU of Contact, else `epid` of From; nil if
    /// none is valid.
    public init?(of headers: SIPHeaders) {
        if let contact = headers.contact {
            if let instance = contact.sipInstance, let id = EndpointID(instance) {
                self = id
                return
            }
            if let id = EndpointID(gruu: contact.uri) {
                self = id
                return
            }
        }
        guard let epid = headers.from?.epid, !epid.isEmpty, epid.utf8.count <= EndpointID.longestEPID else { return nil }
        self.init(epid: epid)
    }

    /// Longest accepted `epid` in octets (MS-SIPRE 2.2.1).
    package static let longestEPID = 16
}
