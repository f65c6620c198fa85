/// The presence documents that can be converted into one another (DESIGN: `convert --from F --to F`).
public struct PresenceFormat: Hashable, Sendable, CustomStringConvertible {
    /// The name on the command line.
    public let name: String
    /// The media type on the wire.
    public let mediaType: String

    private init(_ name: String, _ mediaType: String) {
        self.name = name
        self.mediaType = mediaType
    }

    /// The categories document of MS-PRES 2.2.2.1.
    public static let categories = PresenceFormat("categories", "application/msrtc-event-categories+xml")
    /// The body of the legacyInterop category alone (MS-PRES 2.2.2.7.6); it never travels alone, so it has no media type of its own.
    public static let legacyInterop = PresenceFormat("legacy-interop", "application/xml")
    /// The document of 2003 to 2005 servers (MS-PRES 2.2.2.9).
    public static let msrtc = PresenceFormat("msrtc", "text/xml+msrtc.pidf")
    /// PIDF with all its extensions (RFC 3863), read in any profile.
    public static let pidf = PresenceFormat("pidf", "application/pidf+xml")
    /// The document before PIDF, of an expired draft.
    public static let xpidf = PresenceFormat("xpidf", "application/xpidf+xml")

    public static let all: [PresenceFormat] = [.categories, .legacyInterop, .msrtc, .pidf, .xpidf]

    /// The format of that name, or nil.
    public init?(named name: String) {
        guard let format = PresenceFormat.all.first(where: { $0.name == name }) else { return nil }
        self = format
    }

    public var description: String { name }
}

/// How PIDF is written; all profiles are read.
public struct PIDFProfile: Hashable, Sendable, CustomStringConvertible {
    /// The name on the command line and in the configuration.
    public let name: String

    private init(_ name: String) {
        self.name = name
    }

    /// RFC 4479 data model and RFC 4480 RPID: the default.
    public static let rpid = PIDFProfile("rpid")
    /// One tuple and the draft namespaces of MS-PRES 2.2.2.8, for Microsoft federation partners.
    public static let rpidDraft = PIDFProfile("rpid-draft")
    /// rpid with the OMA extensions.
    public static let oma = PIDFProfile("oma")

    public static let all: [PIDFProfile] = [.rpid, .rpidDraft, .oma]

    /// The profile of that name, or nil.
    public init?(named name: String) {
        guard let profile = PIDFProfile.all.first(where: { $0.name == name }) else { return nil }
        self = profile
    }

    public var description: String { name }
}
