/// Tokens of event packages, as in Event; case-sensitive (RFC 6665 8.2.1).
public enum EventToken {
    /// Presence (RFC 3856).
    public static let presence = "presence"
}
