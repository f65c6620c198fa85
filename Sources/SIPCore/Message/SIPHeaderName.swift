/// Name of a header field (RFC 3261 7.3.1): compared ignoring case; compact forms equal the long ones.
///
/// Known names are one number, so that comparing them is cheap; unknown names keep their spelling.
public struct SIPHeaderName: Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    let known: KnownHeader
    /// Spelling of an unknown name; empty for a known one.
    let spelling: String

    init(known: KnownHeader) {
        self.known = known
        spelling = ""
    }

    /// Known name with this spelling (any case, long or compact), else an unknown name.
    public init(_ text: String) {
        var text = text
        known = text.withUTF8 { HeaderTable.shared.lookup($0) }
        spelling = known == .unknown ? text : ""
    }

    public init(stringLiteral text: String) { self.init(text) }

    /// Usual spelling of a known name, received spelling of an unknown one.
    public var description: String { known == .unknown ? spelling : HeaderTable.shared.name(known) }

    /// Whether the header is a comma-separated list (RFC 3261 7.3.1); false for unknown names.
    public var isList: Bool { known.isList }
}

extension SIPHeaderName: Hashable {
    public static func == (left: SIPHeaderName, right: SIPHeaderName) -> Bool {
        left.known == right.known && (left.known != .unknown || ASCII.equal(left.spelling, right.spelling))
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(known.rawValue)
        for byte in spelling.utf8 { hasher.combine(ASCII.lower(byte)) }
    }
}

/// Number of a known header name; the order is that of ``HeaderTable``.
enum KnownHeader: UInt8, CaseIterable, Sendable {
    case unknown
    case via
    case from
    case to
    case callID
    case cSeq
    case maxForwards
    case contact
    case route
    case recordRoute
    case contentType
    case contentLength
    case contentEncoding
    case contentDisposition
    case contentLanguage
    case contentID
    case mimeVersion
    case event
    case subscriptionState
    case allowEvents
    case expires
    case minExpires
    case accept
    case acceptEncoding
    case acceptLanguage
    case allow
    case supported
    case require
    case proxyRequire
    case unsupported
    case retryAfter
    case sipETag
    case sipIfMatch
    case suppressIfMatch
    case warning
    case reason
    case server
    case userAgent
    case date
    case timestamp
    case organization
    case subject
    case priority
    case inReplyTo
    case replyTo
    case errorInfo
    case callInfo
    case alertInfo
    case authorization
    case wwwAuthenticate
    case proxyAuthorization
    case proxyAuthenticate
    case authenticationInfo
    case proxyAuthenticationInfo
    case pAssertedIdentity
    case pPreferredIdentity
    case privacy
    case path
    case serviceRoute
    case pChargingVector
    case pAccessNetworkInfo
    case historyInfo
    case acceptContact
    case rejectContact
    case requestDisposition
    case referTo
    case referredBy
    case sessionExpires
    case identity
    case msDiagnostics
    case msDiagnosticsPublic
    case msPiggybackCSeq
    case msSourceNetwork
    case msEdgeProxyMessageTrust
    case msKeepAlive
    case msUserLogonData
    case msAsserted
    case presenceState

    var isList: Bool {
        switch self {
        case .via, .contact, .route, .recordRoute, .contentEncoding, .contentLanguage, .allowEvents, .accept, .acceptEncoding,
            .acceptLanguage, .allow, .supported, .require, .proxyRequire, .unsupported, .warning, .reason, .inReplyTo, .errorInfo,
            .callInfo, .alertInfo, .pAssertedIdentity, .pPreferredIdentity, .path, .serviceRoute, .pAccessNetworkInfo, .historyInfo,
            .acceptContact, .rejectContact, .requestDisposition, .msDiagnostics, .msDiagnosticsPublic:
            return true
        default:
            return false
        }
    }
}

extension SIPHeaderName {
    /// `Via`, compact `v` (RFC 3261 20.42).
    public static var via: SIPHeaderName { SIPHeaderName(known: .via) }
    /// `From`, compact `f` (RFC 3261 20.20).
    public static var from: SIPHeaderName { SIPHeaderName(known: .from) }
    /// `To`, compact `t` (RFC 3261 20.39).
    public static var to: SIPHeaderName { SIPHeaderName(known: .to) }
    /// `Call-ID`, compact `i` (RFC 3261 20.8).
    public static var callID: SIPHeaderName { SIPHeaderName(known: .callID) }
    /// `CSeq` (RFC 3261 20.16).
    public static var cSeq: SIPHeaderName { SIPHeaderName(known: .cSeq) }
    /// `Max-Forwards` (RFC 3261 20.22).
    public static var maxForwards: SIPHeaderName { SIPHeaderName(known: .maxForwards) }
    /// `Contact`, compact `m` (RFC 3261 20.10).
    public static var contact: SIPHeaderName { SIPHeaderName(known: .contact) }
    /// `Route` (RFC 3261 20.34).
    public static var route: SIPHeaderName { SIPHeaderName(known: .route) }
    /// `Record-Route` (RFC 3261 20.30).
    public static var recordRoute: SIPHeaderName { SIPHeaderName(known: .recordRoute) }
    /// `Content-Type`, compact `c` (RFC 3261 20.15).
    public static var contentType: SIPHeaderName { SIPHeaderName(known: .contentType) }
    /// `Content-Length`, compact `l` (RFC 3261 20.14).
    public static var contentLength: SIPHeaderName { SIPHeaderName(known: .contentLength) }
    /// `Content-Encoding`, compact `e` (RFC 3261 20.12).
    public static var contentEncoding: SIPHeaderName { SIPHeaderName(known: .contentEncoding) }
    /// `Content-Disposition` (RFC 3261 20.11).
    public static var contentDisposition: SIPHeaderName { SIPHeaderName(known: .contentDisposition) }
    /// `Content-Language` (RFC 3261 20.13).
    public static var contentLanguage: SIPHeaderName { SIPHeaderName(known: .contentLanguage) }
    /// `Content-ID` (RFC 8262).
    public static var contentID: SIPHeaderName { SIPHeaderName(known: .contentID) }
    /// `MIME-Version` (RFC 3261 20.24).
    public static var mimeVersion: SIPHeaderName { SIPHeaderName(known: .mimeVersion) }
    /// `Event`, compact `o` (RFC 6665 8.2.1).
    public static var event: SIPHeaderName { SIPHeaderName(known: .event) }
    /// `Subscription-State` (RFC 6665 8.2.3).
    public static var subscriptionState: SIPHeaderName { SIPHeaderName(known: .subscriptionState) }
    /// `Allow-Events`, compact `u` (RFC 6665 8.2.2).
    public static var allowEvents: SIPHeaderName { SIPHeaderName(known: .allowEvents) }
    /// `Expires` (RFC 3261 20.19).
    public static var expires: SIPHeaderName { SIPHeaderName(known: .expires) }
    /// `Min-Expires` (RFC 3261 20.23).
    public static var minExpires: SIPHeaderName { SIPHeaderName(known: .minExpires) }
    /// `Accept` (RFC 3261 20.1).
    public static var accept: SIPHeaderName { SIPHeaderName(known: .accept) }
    /// `Accept-Encoding` (RFC 3261 20.2).
    public static var acceptEncoding: SIPHeaderName { SIPHeaderName(known: .acceptEncoding) }
    /// `Accept-Language` (RFC 3261 20.3).
    public static var acceptLanguage: SIPHeaderName { SIPHeaderName(known: .acceptLanguage) }
    /// `Allow` (RFC 3261 20.5).
    public static var allow: SIPHeaderName { SIPHeaderName(known: .allow) }
    /// `Supported`, compact `k` (RFC 3261 20.37).
    public static var supported: SIPHeaderName { SIPHeaderName(known: .supported) }
    /// `Require` (RFC 3261 20.32).
    public static var require: SIPHeaderName { SIPHeaderName(known: .require) }
    /// `Proxy-Require` (RFC 3261 20.29).
    public static var proxyRequire: SIPHeaderName { SIPHeaderName(known: .proxyRequire) }
    /// `Unsupported` (RFC 3261 20.40).
    public static var unsupported: SIPHeaderName { SIPHeaderName(known: .unsupported) }
    /// `Retry-After` (RFC 3261 20.33).
    public static var retryAfter: SIPHeaderName { SIPHeaderName(known: .retryAfter) }
    /// `SIP-ETag` (RFC 3903 11.3.1).
    public static var sipETag: SIPHeaderName { SIPHeaderName(known: .sipETag) }
    /// `SIP-If-Match` (RFC 3903 11.3.2).
    public static var sipIfMatch: SIPHeaderName { SIPHeaderName(known: .sipIfMatch) }
    /// `Suppress-If-Match` (RFC 5839).
    public static var suppressIfMatch: SIPHeaderName { SIPHeaderName(known: .suppressIfMatch) }
    /// `Warning` (RFC 3261 20.43).
    public static var warning: SIPHeaderName { SIPHeaderName(known: .warning) }
    /// `Reason` (RFC 3326).
    public static var reason: SIPHeaderName { SIPHeaderName(known: .reason) }
    /// `Server` (RFC 3261 20.35).
    public static var server: SIPHeaderName { SIPHeaderName(known: .server) }
    /// `User-Agent` (RFC 3261 20.41).
    public static var userAgent: SIPHeaderName { SIPHeaderName(known: .userAgent) }
    /// `Date` (RFC 3261 20.17).
    public static var date: SIPHeaderName { SIPHeaderName(known: .date) }
    /// `Timestamp` (RFC 3261 20.38).
    public static var timestamp: SIPHeaderName { SIPHeaderName(known: .timestamp) }
    /// `Organization` (RFC 3261 20.25).
    public static var organization: SIPHeaderName { SIPHeaderName(known: .organization) }
    /// `Subject`, compact `s` (RFC 3261 20.36).
    public static var subject: SIPHeaderName { SIPHeaderName(known: .subject) }
    /// `Priority` (RFC 3261 20.26).
    public static var priority: SIPHeaderName { SIPHeaderName(known: .priority) }
    /// `In-Reply-To` (RFC 3261 20.21).
    public static var inReplyTo: SIPHeaderName { SIPHeaderName(known: .inReplyTo) }
    /// `Reply-To` (RFC 3261 20.31).
    public static var replyTo: SIPHeaderName { SIPHeaderName(known: .replyTo) }
    /// `Error-Info` (RFC 3261 20.18).
    public static var errorInfo: SIPHeaderName { SIPHeaderName(known: .errorInfo) }
    /// `Call-Info` (RFC 3261 20.9).
    public static var callInfo: SIPHeaderName { SIPHeaderName(known: .callInfo) }
    /// `Alert-Info` (RFC 3261 20.4).
    public static var alertInfo: SIPHeaderName { SIPHeaderName(known: .alertInfo) }
    /// `Authorization` (RFC 3261 20.7).
    public static var authorization: SIPHeaderName { SIPHeaderName(known: .authorization) }
    /// `WWW-Authenticate` (RFC 3261 20.44).
    public static var wwwAuthenticate: SIPHeaderName { SIPHeaderName(known: .wwwAuthenticate) }
    /// `Proxy-Authorization` (RFC 3261 20.28).
    public static var proxyAuthorization: SIPHeaderName { SIPHeaderName(known: .proxyAuthorization) }
    /// `Proxy-Authenticate` (RFC 3261 20.27).
    public static var proxyAuthenticate: SIPHeaderName { SIPHeaderName(known: .proxyAuthenticate) }
    /// `Authentication-Info` (RFC 3261 20.6).
    public static var authenticationInfo: SIPHeaderName { SIPHeaderName(known: .authenticationInfo) }
    /// `Proxy-Authentication-Info` (MS-SIPAE).
    public static var proxyAuthenticationInfo: SIPHeaderName { SIPHeaderName(known: .proxyAuthenticationInfo) }
    /// `P-Asserted-Identity` (RFC 3325 9.1).
    public static var pAssertedIdentity: SIPHeaderName { SIPHeaderName(known: .pAssertedIdentity) }
    /// `P-Preferred-Identity` (RFC 3325 9.2).
    public static var pPreferredIdentity: SIPHeaderName { SIPHeaderName(known: .pPreferredIdentity) }
    /// `Privacy` (RFC 3323).
    public static var privacy: SIPHeaderName { SIPHeaderName(known: .privacy) }
    /// `Path` (RFC 3327).
    public static var path: SIPHeaderName { SIPHeaderName(known: .path) }
    /// `Service-Route` (RFC 3608).
    public static var serviceRoute: SIPHeaderName { SIPHeaderName(known: .serviceRoute) }
    /// `P-Charging-Vector` (RFC 7315).
    public static var pChargingVector: SIPHeaderName { SIPHeaderName(known: .pChargingVector) }
    /// `P-Access-Network-Info` (RFC 7315).
    public static var pAccessNetworkInfo: SIPHeaderName { SIPHeaderName(known: .pAccessNetworkInfo) }
    /// `History-Info` (RFC 7044).
    public static var historyInfo: SIPHeaderName { SIPHeaderName(known: .historyInfo) }
    /// `Accept-Contact`, compact `a` (RFC 3841).
    public static var acceptContact: SIPHeaderName { SIPHeaderName(known: .acceptContact) }
    /// `Reject-Contact`, compact `j` (RFC 3841).
    public static var rejectContact: SIPHeaderName { SIPHeaderName(known: .rejectContact) }
    /// `Request-Disposition`, compact `d` (RFC 3841).
    public static var requestDisposition: SIPHeaderName { SIPHeaderName(known: .requestDisposition) }
    /// `Refer-To`, compact `r` (RFC 3515).
    public static var referTo: SIPHeaderName { SIPHeaderName(known: .referTo) }
    /// `Referred-By`, compact `b` (RFC 3892).
    public static var referredBy: SIPHeaderName { SIPHeaderName(known: .referredBy) }
    /// `Session-Expires`, compact `x` (RFC 4028).
    public static var sessionExpires: SIPHeaderName { SIPHeaderName(known: .sessionExpires) }
    /// `Identity`, compact `y` (RFC 8224).
    public static var identity: SIPHeaderName { SIPHeaderName(known: .identity) }
    /// `ms-diagnostics` (MS-OCER 2.2.1).
    public static var msDiagnostics: SIPHeaderName { SIPHeaderName(known: .msDiagnostics) }
    /// `ms-diagnostics-public` (MS-OCER 2.2.1).
    public static var msDiagnosticsPublic: SIPHeaderName { SIPHeaderName(known: .msDiagnosticsPublic) }
    /// `ms-piggyback-cseq` (MS-SIP 3.4.5.1).
    public static var msPiggybackCSeq: SIPHeaderName { SIPHeaderName(known: .msPiggybackCSeq) }
    /// `ms-source-network` (MS-PRES).
    public static var msSourceNetwork: SIPHeaderName { SIPHeaderName(known: .msSourceNetwork) }
    /// `ms-edge-proxy-message-trust` (MS-SIPRE).
    public static var msEdgeProxyMessageTrust: SIPHeaderName { SIPHeaderName(known: .msEdgeProxyMessageTrust) }
    /// `ms-keep-alive` (MS-CONMGMT 2.2.1).
    public static var msKeepAlive: SIPHeaderName { SIPHeaderName(known: .msKeepAlive) }
    /// `ms-user-logon-data` (MS-SIPREGE).
    public static var msUserLogonData: SIPHeaderName { SIPHeaderName(known: .msUserLogonData) }
    /// `ms-asserted-verification-level` (MS-SIPRE).
    public static var msAsserted: SIPHeaderName { SIPHeaderName(known: .msAsserted) }
    /// `presence-state` (MS-SIPREGE).
    public static var presenceState: SIPHeaderName { SIPHeaderName(known: .presenceState) }
}
