/// The convertible presence formats (`convert --from FORMAT --to FORMAT`).
public struct PresenceFormat: Hashable, Sendable, CustomStringConvertible {
    /// The name in commands.
    public let name: String
    /// The media type.
    public let mediaType: String

    private init(_ name: String, _ mediaType: String) {
        self.name = name
        self.mediaType = mediaType
    }

    /// Categories document (MS-PRES 2.2.2.1).
    public static let categories = PresenceFormat("categories", "application/msrtc-event-categories+xml")
    /// Body of the legacyInterop category (MS-PRES 2.2.2.7.6); it is not sent alone, so it has no media type of its own.
    public static let legacyInterop = PresenceFormat("legacy-interop", "application/xml")
    /// Document of servers from 2003 to 2005 (MS-PRES 2.2.2.9).
    public static let msrtc = PresenceFormat("msrtc", "text/xml+msrtc.pidf")
    /// PIDF with extensions (RFC 3863); every profile is read.
    public static let pidf = PresenceFormat("pidf", "application/pidf+xml")
    /// The predecessor of PIDF, from an expired draft.
    public static let xpidf = PresenceFormat("xpidf", "application/xpidf+xml")

    /// All formats, sorted by name.
    public static let all: [PresenceFormat] = [.categories, .legacyInterop, .msrtc, .pidf, .xpidf]

    /// The format with a name; nil for unknown names.
    public init?(named name: String) {
        guard let format = PresenceFormat.all.first(where: { $0.name == name }) else { return nil }
        self = format
    }

    /// The same as ``name``.
    public var description: String { name }
}

/// The profile in which PIDF is written; every profile is read.
public struct PIDFProfile: Hashable, Sendable, CustomStringConvertible {
    /// The name in commands and in the configuration.
    public let name: String

    private init(_ name: String) {
        self.name = name
    }

    /// Data model of RFC 4479 with RPID (RFC 4480); the default.
    public static let rpid = PIDFProfile("rpid")
    /// One tuple with the draft namespaces of MS-PRES 2.2.2.8, for enterprise federation partners.
    public static let rpidDraft = PIDFProfile("rpid-draft")
    /// ``rpid`` with OMA extensions.
    public static let oma = PIDFProfile("oma")

    /// All profiles.
    public static let all: [PIDFProfile] = [.rpid, .rpidDraft, .oma]

    /// The profile with a name; nil for unknown names.
    public init?(named name: String) {
        guard let profile = PIDFProfile.all.first(where: { $0.name == name }) else { return nil }
        self = profile
    }

    /// The same as ``name``.
    public var description: String { name }
}
