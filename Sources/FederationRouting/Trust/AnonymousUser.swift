import SIPCore

/// The user that a watcher names in From to remain unknown (RFC 3323 4.1.1.3): `sip:anonymous@anonymous.invalid`.
///
/// The URI does not identify the sender, so it is accepted from a partner's server only. Inside the gateway, the watcher is the anonymous
/// user of that partner, `sip:anonymous@PARTNER.anonymous.invalid`: rights, limits and routes are those of the partner, dialogs of two
/// partners are apart, and no pattern, container or list that names the partner's users or domain matches it.
public enum AnonymousUser {
    private static let host = "anonymous.invalid"
    private static let suffix = "." + host

    /// As it is written in From.
    public static let written = SIPURI(user: "anonymous", host: host)

    /// Whether a From is anonymous.
    public static func isWritten(_ uri: SIPURI) -> Bool { uri.scheme.hasHost && uri.domainKey == host }

    /// Whether users of a host are anonymous: that of From, or the one of a partner's anonymous user.
    public static func isHost(_ host: String) -> Bool { host == Self.host || partner(ofHost: host) != nil }

    /// The anonymous user of a partner.
    public static func uri(of partner: String) -> SIPURI { SIPURI(user: "anonymous", host: partner + suffix) }

    /// The partner of the host of an anonymous user; nil for any other host.
    public static func partner(ofHost host: String) -> String? {
        let length = suffix.utf8.count
        guard host.utf8.count > length, host.utf8.suffix(length).elementsEqual(suffix.utf8) else { return nil }
        return String(host.dropLast(length))
    }

    /// A user as other partners may read of it.
    public static func shown(_ uri: SIPURI) -> SIPURI { partner(ofHost: uri.domainKey) == nil ? uri : written }
}
