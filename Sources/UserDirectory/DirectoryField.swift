/// A text attribute of a user. The raw value is its key in files, ``attribute`` its name in directory services and search
/// filters.
///
/// The attributes are those of the user objects in MS-PRES 8.3; the configuration maps them for directory services with
/// other names.
public enum DirectoryField: String, Hashable, Sendable, CaseIterable {
    case displayName = "display-name"
    case givenName = "given-name"
    case surname
    case email
    case title
    case company
    case department
    case office
    case workPhone = "work-phone"
    case mobilePhone = "mobile-phone"
    case homePhone = "home-phone"
    case otherPhone = "other-phone"
    case fax
    case street
    case city
    case state
    case postalCode = "postal-code"
    /// Country code of two letters (ISO 3166).
    case country
    case webPage = "web-page"
    /// Telephone line as a `tel:` URI (MS-PRES 2.2.2.7.4).
    case lineURI = "line-uri"
    /// Login name, if it differs from the user part of the SIP URI.
    case account

    /// The usual name of the attribute in a directory service (MS-PRES 8.3).
    public var attribute: String {
        switch self {
        case .displayName: "displayName"
        case .givenName: "givenName"
        case .surname: "sn"
        case .email: "mail"
        case .title: "title"
        case .company: "company"
        case .department: "department"
        case .office: "physicalDeliveryOfficeName"
        case .workPhone: "telephoneNumber"
        case .mobilePhone: "mobile"
        case .homePhone: "homePhone"
        case .otherPhone: "otherTelephone"
        case .fax: "facsimileTelephoneNumber"
        case .street: "streetAddress"
        case .city: "l"
        case .state: "st"
        case .postalCode: "postalCode"
        case .country: "c"
        case .webPage: "wWWHomePage"
        case .lineURI: "msRTCSIP-Line"
        case .account: "sAMAccountName"
        }
    }

    /// Largest length of a text in octets.
    package static let byteLimit = 1_024

    /// The rule that a text breaks, as an error message such as "must not be empty"; nil if the text is valid for this
    /// field.
    package func rule(brokenBy text: String) -> String? {
        if text.isEmpty { return "must not be empty" }
        if text.utf8.count > Self.byteLimit { return "must have at most \(Self.byteLimit) octets" }
        // Control characters cannot be carried in XML or in a header line.
        if text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F || $0.value == 0xFFFE || $0.value == 0xFFFF }) {
            return "must not have control characters"
        }
        switch self {
        case .email:
            return Self.isMailAddress(text) ? nil : "must be a mail address: user@domain"
        case .country:
            let isCode = text.utf8.count == 2 && text.utf8.allSatisfy { Self.isLetter($0) }
            return isCode ? nil : "must be a country code of two letters (ISO 3166)"
        case .lineURI:
            return text.lowercased().hasPrefix("tel:") && text.utf8.count > 4 ? nil : "must be a tel URI (RFC 3966, MS-PRES 2.2.2.7.4)"
        case .workPhone, .mobilePhone, .homePhone, .otherPhone, .fax:
            return text.utf8.contains { (0x30...0x39).contains($0) } ? nil : "must be a telephone number or a tel URI (RFC 3966)"
        case .account:
            return text.utf8.contains { $0 <= 0x20 || $0 == 0x40 || $0 == 0x5C || $0 == 0x3A } ? "must not have blanks, @, \\ or :" : nil
        default:
            return nil
        }
    }

    static func isMailAddress(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && !text.utf8.contains { $0 <= 0x20 || $0 == 0x3C || $0 == 0x3E }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
}
