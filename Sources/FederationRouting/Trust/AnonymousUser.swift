import SIPCore

/// The user that a watcher names in From to remain unknown (RFC 3323 4.1.1.3): `sip:anonymous@anonymous.invalid`.
///
/// The URI says nothing of the sender, so it counts only where the peer is a partner's server. Inside, the watcher is the anonymous user
/// of that partner, `sip:anonymous@PARTNER.anonymous.invalid`: rights, limits and routes are those of the partner, dialogs of one partner
/// are not another's, and no pattern, container or list that names the partner's own users or domain means it.
public enum AnonymousUser {
    private static let host = "anonymous.invalid"

    /// As it is written in From.
    public static let written = SIPURI(user: "anonymous", host: host)

    /// Whether a From names nobody.
    public static func isWritten(_ uri: SIPURI) -> Bool { uri.scheme.hasHost && uri.domainKey == host }

    /// The anonymous user of a partner.
    public static func uri(of partner: String) -> SIPURI { SIPURI(user: "anonymous", host: "\(partner).\(host)") }

    /// The partner whose anonymous user has this host; nil: another host.
    public static func partner(ofHost host: String) -> String? {
        guard host.hasSuffix("." + Self.host) else { return nil }
        return String(host.dropLast(Self.host.utf8.count + 1))
    }

    /// A user as other partners may read of it.
    public static func shown(_ uri: SIPURI) -> SIPURI { partner(ofHost: uri.domainKey) == nil ? uri : written }
}
