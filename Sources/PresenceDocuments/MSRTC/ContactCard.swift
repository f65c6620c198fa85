// MS-PRES 2.2.2.7.4 and 7.3: the `contactCard` category.

import XMLCore

/// The kind of an address, url, phone or photo of a contact card (MS-PRES 7.3); any other token is legal.
public struct ContactDetailType: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let rawValue: String

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

/// What a presentity is (MS-PRES 7.3); any other token is legal.
public struct PresentityType: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: StaticString) { rawValue = value.description }

    public static let person: PresentityType = "person"
    public static let huntGroup: PresentityType = "huntgroup"
    public static let autoAttendant: PresentityType = "autoattendant"
    public static let automaton: PresentityType = "automaton"

    public var description: String { rawValue }
}

/// A URI of a contact card: the `updatedAnyURIType` (MS-PRES 7.3).
public struct ContactURI: Hashable, Sendable {
    public var uri: String
    public var updated: DateTime?
    public var attributes: [XMLAttribute]

    public init(_ uri: String, updated: DateTime? = nil, attributes: [XMLAttribute] = []) {
        self.uri = uri
        self.updated = updated
        self.attributes = attributes
    }
}

/// Names and mail addresses of a user (MS-PRES 2.2.2.7.4).
public struct ContactIdentity: Hashable, Sendable {
    /// Names, one per language; empty when the card has no `name`.
    public var displayNames: [LocalizedText]
    public var emails: [ContactURI]
    public var updated: DateTime?
    public var nameUpdated: DateTime?
    public var attributes: [XMLAttribute]
    public var nameAttributes: [XMLAttribute]
    public var extensions: ExtensionBlock
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

/// A postal address (MS-PRES 7.3).
public struct ContactAddress: Hashable, Sendable {
    public var type: ContactDetailType?
    public var streets: [LocalizedText]
    public var cities: [LocalizedText]
    public var states: [LocalizedText]
    public var zipcodes: [LocalizedText]
    public var countryCode: String?
    public var attributes: [XMLAttribute]
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

/// A web address of a user (MS-PRES 7.3).
public struct ContactWebAddress: Hashable, Sendable {
    public var type: ContactDetailType?
    public var uri: String
    public var updated: DateTime?
    public var attributes: [XMLAttribute]

    public init(_ uri: String, type: ContactDetailType? = nil, updated: DateTime? = nil, attributes: [XMLAttribute] = []) {
        self.type = type
        self.uri = uri
        self.updated = updated
        self.attributes = attributes
    }
}

/// A phone of a user (MS-PRES 7.3).
public struct ContactPhone: Hashable, Sendable {
    public var type: ContactDetailType?
    /// Usually a `tel:` URI; absent only in cards that break the schema.
    public var uri: ContactURI?
    public var displayStrings: [LocalizedText]
    public var updated: DateTime?
    public var attributes: [XMLAttribute]
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

/// A photo of a user (MS-PRES 7.3).
public struct ContactPhoto: Hashable, Sendable {
    public var type: ContactDetailType?
    public var uri: ContactURI?
    public var hash: String?
    public var updated: DateTime?
    public var attributes: [XMLAttribute]
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

/// The card of a user: names, addresses, phones, photos (MS-PRES 2.2.2.7.4, 7.3).
public struct ContactCardDocument: Hashable, Sendable {
    public var identities: [ContactIdentity]
    public var addresses: [ContactAddress]
    public var companies: [LocalizedText]
    public var departments: [LocalizedText]
    public var titles: [LocalizedText]
    public var offices: [LocalizedText]
    public var webAddresses: [ContactWebAddress]
    public var phones: [ContactPhone]
    /// Whether nobody reads what is sent to this presentity; absent means false.
    public var automaton: Bool?
    public var presentityType: PresentityType?
    /// At most 1024 characters by the schema.
    public var presentityDescription: String?
    public var displayADPhoto: Bool?
    public var photos: [ContactPhoto]
    /// Whether the user is enabled for voice (2007 R2 and later write it; the schema has no name for it).
    public var isUCEnabled: Bool?
    public var updated: DateTime?
    public var majorVersion: UInt32?
    public var minorVersion: UInt32?
    public var attributes: [XMLAttribute]
    public var extensions: ExtensionBlock

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

    /// The first display name of the first identity that has one.
    public var displayName: String? { identities.lazy.flatMap(\.displayNames).first?.text }

    /// The first mail address of the first identity that has one.
    public var email: String? { identities.lazy.flatMap(\.emails).first?.uri }
}
