// MS-PRES 2.2.2.7.4 and 7.3: the `contactCard` category.

import XMLCore

/// Kind of an address, url, phone or photo of a contact card (MS-PRES 7.3); other tokens are allowed.
public struct ContactDetailType: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Token as written in documents, case included.
    public let rawValue: String

    /// Wraps a token; tokens that are not listed here are kept.
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: StaticString) { rawValue = value.description }

    public static let work: ContactDetailType = "work"
    public static let home: ContactDetailType = "home"
    public static let mobile: ContactDetailType = "mobile"
    public static let other: ContactDetailType = "other"
    public static let custom1: ContactDetailType = "custom1"
    public static let sharepoint: ContactDetailType = "sharepoint"
    public static let voicemail: ContactDetailType = "voicemail"
    public static let `default`: ContactDetailType = "default"
    public static let enterprise: ContactDetailType = "enterprise"
    public static let exchange: ContactDetailType = "exchange"

    public var description: String { rawValue }
}

/// Kind of presentity (MS-PRES 7.3); other tokens are allowed.
public struct PresentityType: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Token as written in documents, case included.
    public let rawValue: String

    /// Wraps a token; tokens that are not listed here are kept.
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: StaticString) { rawValue = value.description }

    public static let person: PresentityType = "person"
    public static let huntGroup: PresentityType = "huntgroup"
    public static let autoAttendant: PresentityType = "autoattendant"
    public static let automaton: PresentityType = "automaton"

    public var description: String { rawValue }
}

/// URI of a contact card: the `updatedAnyURIType` (MS-PRES 7.3).
public struct ContactURI: Hashable, Sendable {
    /// URI as written, trimmed.
    public var uri: String
    /// Time of the last change by the publisher; nil when absent.
    public var updated: DateTime?
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]

    public init(_ uri: String, updated: DateTime? = nil, attributes: [XMLAttribute] = []) {
        self.uri = uri
        self.updated = updated
        self.attributes = attributes
    }
}

/// Names and mail addresses of a user (MS-PRES 2.2.2.7.4).
public struct ContactIdentity: Hashable, Sendable {
    /// Names, one per language; empty if the card has no `name`.
    public var displayNames: [LocalizedText]
    /// Mail addresses in document order.
    public var emails: [ContactURI]
    /// Time of the last change by the publisher; nil when absent.
    public var updated: DateTime?
    /// Time of the last change of the name; nil when absent.
    public var nameUpdated: DateTime?
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]
    /// Attributes of `name` without a field here; kept and written again.
    public var nameAttributes: [XMLAttribute]
    /// Elements without a field here, by schema generation (MS-PRES 7.1); kept and written again.
    public var extensions: ExtensionBlock
    /// Elements of `name` without a field here, by schema generation (MS-PRES 7.1).
    public var nameExtensions: ExtensionBlock

    public init(
        displayNames: [LocalizedText] = [], emails: [ContactURI] = [], updated: DateTime? = nil, nameUpdated: DateTime? = nil,
        attributes: [XMLAttribute] = [], nameAttributes: [XMLAttribute] = [],
        extensions: ExtensionBlock = ExtensionBlock(), nameExtensions: ExtensionBlock = ExtensionBlock()
    ) {
        self.displayNames = displayNames
        self.emails = emails
        self.updated = updated
        self.nameUpdated = nameUpdated
        self.attributes = attributes
        self.nameAttributes = nameAttributes
        self.extensions = extensions
        self.nameExtensions = nameExtensions
    }
}

/// Postal address (MS-PRES 7.3).
public struct ContactAddress: Hashable, Sendable {
    /// Kind of address; nil when absent.
    public var type: ContactDetailType?
    /// Street, one text per language.
    public var streets: [LocalizedText]
    /// City, one text per language.
    public var cities: [LocalizedText]
    /// State or province, one text per language.
    public var states: [LocalizedText]
    /// Postal code, one text per language.
    public var zipcodes: [LocalizedText]
    /// Country code as written; nil when absent.
    public var countryCode: String?
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]
    /// Elements without a field here, by schema generation (MS-PRES 7.1); kept and written again.
    public var extensions: ExtensionBlock

    public init(
        type: ContactDetailType? = nil, streets: [LocalizedText] = [], cities: [LocalizedText] = [], states: [LocalizedText] = [],
        zipcodes: [LocalizedText] = [], countryCode: String? = nil, attributes: [XMLAttribute] = [],
        extensions: ExtensionBlock = ExtensionBlock()
    ) {
        self.type = type
        self.streets = streets
        self.cities = cities
        self.states = states
        self.zipcodes = zipcodes
        self.countryCode = countryCode
        self.attributes = attributes
        self.extensions = extensions
    }
}

/// Web address of a user (MS-PRES 7.3).
public struct ContactWebAddress: Hashable, Sendable {
    /// Kind of web address; nil when absent.
    public var type: ContactDetailType?
    /// URL as written, trimmed.
    public var uri: String
    /// Time of the last change by the publisher; nil when absent.
    public var updated: DateTime?
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]

    public init(_ uri: String, type: ContactDetailType? = nil, updated: DateTime? = nil, attributes: [XMLAttribute] = []) {
        self.type = type
        self.uri = uri
        self.updated = updated
        self.attributes = attributes
    }
}

/// Phone of a user (MS-PRES 7.3).
public struct ContactPhone: Hashable, Sendable {
    /// Kind of phone; nil when absent.
    public var type: ContactDetailType?
    /// Usually a `tel:` URI; absent only in cards that violate the schema.
    public var uri: ContactURI?
    /// Number as shown to people, one text per language.
    public var displayStrings: [LocalizedText]
    /// Time of the last change by the publisher; nil when absent.
    public var updated: DateTime?
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]
    /// Elements without a field here, by schema generation (MS-PRES 7.1); kept and written again.
    public var extensions: ExtensionBlock

    public init(
        type: ContactDetailType? = nil, uri: ContactURI?, displayStrings: [LocalizedText] = [], updated: DateTime? = nil,
        attributes: [XMLAttribute] = [], extensions: ExtensionBlock = ExtensionBlock()
    ) {
        self.type = type
        self.uri = uri
        self.displayStrings = displayStrings
        self.updated = updated
        self.attributes = attributes
        self.extensions = extensions
    }
}

/// Photo of a user (MS-PRES 7.3).
public struct ContactPhoto: Hashable, Sendable {
    /// Kind of photo; nil when absent.
    public var type: ContactDetailType?
    /// URL of the photo; nil when absent.
    public var uri: ContactURI?
    /// Hash of the photo as written; nil when absent.
    public var hash: String?
    /// Time of the last change by the publisher; nil when absent.
    public var updated: DateTime?
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]
    /// Elements without a field here, by schema generation (MS-PRES 7.1); kept and written again.
    public var extensions: ExtensionBlock

    public init(
        type: ContactDetailType?, uri: ContactURI? = nil, hash: String? = nil, updated: DateTime? = nil,
        attributes: [XMLAttribute] = [], extensions: ExtensionBlock = ExtensionBlock()
    ) {
        self.type = type
        self.uri = uri
        self.hash = hash
        self.updated = updated
        self.attributes = attributes
        self.extensions = extensions
    }
}

/// Contact card of a user: names, addresses, phones, photos (MS-PRES 2.2.2.7.4, 7.3).
public struct ContactCardDocument: Hashable, Sendable {
    /// Identities in document order.
    public var identities: [ContactIdentity]
    /// Postal addresses in document order.
    public var addresses: [ContactAddress]
    /// Company, one text per language.
    public var companies: [LocalizedText]
    /// Department, one text per language.
    public var departments: [LocalizedText]
    /// Title, one text per language.
    public var titles: [LocalizedText]
    /// Office, one text per language.
    public var offices: [LocalizedText]
    /// Web addresses in document order.
    public var webAddresses: [ContactWebAddress]
    /// Phones in document order.
    public var phones: [ContactPhone]
    /// Whether no person reads messages to this presentity; absent means false.
    public var automaton: Bool?
    /// Kind of presentity; nil when absent.
    public var presentityType: PresentityType?
    /// Description; at most 1,024 characters by the schema, which is not checked here.
    public var presentityDescription: String?
    /// Whether clients show the photo of the directory; nil when absent.
    public var displayADPhoto: Bool?
    /// Photos in document order.
    public var photos: [ContactPhoto]
    /// Whether the user is enabled for voice; written by 2007 R2 and later, not defined by the schema.
    public var isUCEnabled: Bool?
    /// Time of the last change by the publisher; nil when absent.
    public var updated: DateTime?
    /// Major schema version as written; nil when absent.
    public var majorVersion: UInt32?
    /// Minor schema version as written; nil when absent.
    public var minorVersion: UInt32?
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]
    /// Elements without a field here, by schema generation (MS-PRES 7.1); kept and written again.
    public var extensions: ExtensionBlock

    /// Creates a card; by default an empty one.
    public init(
        identities: [ContactIdentity] = [], addresses: [ContactAddress] = [], companies: [LocalizedText] = [],
        departments: [LocalizedText] = [], titles: [LocalizedText] = [], offices: [LocalizedText] = [],
        webAddresses: [ContactWebAddress] = [], phones: [ContactPhone] = [], automaton: Bool? = nil,
        presentityType: PresentityType? = nil, presentityDescription: String? = nil, displayADPhoto: Bool? = nil,
        photos: [ContactPhoto] = [], isUCEnabled: Bool? = nil, updated: DateTime? = nil, majorVersion: UInt32? = nil,
        minorVersion: UInt32? = nil, attributes: [XMLAttribute] = [], extensions: ExtensionBlock = ExtensionBlock()
    ) {
        self.identities = identities
        self.addresses = addresses
        self.companies = companies
        self.departments = departments
        self.titles = titles
        self.offices = offices
        self.webAddresses = webAddresses
        self.phones = phones
        self.automaton = automaton
        self.presentityType = presentityType
        self.presentityDescription = presentityDescription
        self.displayADPhoto = displayADPhoto
        self.photos = photos
        self.isUCEnabled = isUCEnabled
        self.updated = updated
        self.majorVersion = majorVersion
        self.minorVersion = minorVersion
        self.attributes = attributes
        self.extensions = extensions
    }
}

extension Sequence<ContactIdentity> {
    /// First display name of the first identity with one; nil when there is none.
    public var displayName: String? { lazy.flatMap(\.displayNames).first { _ in true }?.text }

    /// First mail address of the first identity with one; nil when there is none.
    public var email: String? { lazy.flatMap(\.emails).first { _ in true }?.uri }
}
