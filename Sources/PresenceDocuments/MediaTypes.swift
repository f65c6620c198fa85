/// Media types of the SIMPLE documents, lower case; compare without regard to case (RFC 2045 5.1).
public enum SIMPLEMediaType {
    /// RFC 3863
    public static let pidf = "application/pidf+xml"
    /// The name before RFC 3863, still asked for by old watchers
    public static let cpimPIDF = "application/cpim-pidf+xml"
    /// RFC 5262
    public static let pidfDiff = "application/pidf-diff+xml"
    public static let xpidf = "application/xpidf+xml"
    /// RFC 4662
    public static let rlmi = "application/rlmi+xml"
    /// RFC 2387
    public static let multipartRelated = "multipart/related"
}
