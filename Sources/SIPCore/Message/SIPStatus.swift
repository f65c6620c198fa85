/// A status code (RFC 3261 21), 100 to 699; open.
public struct SIPStatus: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    public var rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    public var description: String { "\(rawValue) \(reasonPhrase)" }

    public static func < (left: SIPStatus, right: SIPStatus) -> Bool { left.rawValue < right.rawValue }

    /// 1 to 6.
    public var statusClass: Int { rawValue / 100 }
    public var isProvisional: Bool { rawValue < 200 }
    public var isSuccess: Bool { rawValue >= 200 && rawValue < 300 }
    public var isFinal: Bool { rawValue >= 200 }

    public static let trying = SIPStatus(rawValue: 100)
    public static let ringing = SIPStatus(rawValue: 180)
    public static let ok = SIPStatus(rawValue: 200)
    /// RFC 6665 8.3.1: read like 200, never sent for SUBSCRIBE.
    public static let accepted = SIPStatus(rawValue: 202)
    /// RFC 5839.
    public static let noNotification = SIPStatus(rawValue: 204)
    public static let multipleChoices = SIPStatus(rawValue: 300)
    public static let movedPermanently = SIPStatus(rawValue: 301)
    public static let movedTemporarily = SIPStatus(rawValue: 302)
    public static let badRequest = SIPStatus(rawValue: 400)
    public static let unauthorized = SIPStatus(rawValue: 401)
    public static let forbidden = SIPStatus(rawValue: 403)
    public static let notFound = SIPStatus(rawValue: 404)
    public static let methodNotAllowed = SIPStatus(rawValue: 405)
    public static let notAcceptable = SIPStatus(rawValue: 406)
    public static let proxyAuthenticationRequired = SIPStatus(rawValue: 407)
    public static let requestTimeout = SIPStatus(rawValue: 408)
    /// MS-PRES 3.2.5: a publication with a stale version.
    public static let conflict = SIPStatus(rawValue: 409)
    public static let gone = SIPStatus(rawValue: 410)
    /// RFC 3903 11.2.1.
    public static let conditionalRequestFailed = SIPStatus(rawValue: 412)
    public static let requestEntityTooLarge = SIPStatus(rawValue: 413)
    public static let requestURITooLong = SIPStatus(rawValue: 414)
    public static let unsupportedMediaType = SIPStatus(rawValue: 415)
    public static let unsupportedURIScheme = SIPStatus(rawValue: 416)
    public static let badExtension = SIPStatus(rawValue: 420)
    public static let extensionRequired = SIPStatus(rawValue: 421)
    public static let intervalTooBrief = SIPStatus(rawValue: 423)
    public static let temporarilyUnavailable = SIPStatus(rawValue: 480)
    public static let callOrTransactionDoesNotExist = SIPStatus(rawValue: 481)
    public static let loopDetected = SIPStatus(rawValue: 482)
    public static let tooManyHops = SIPStatus(rawValue: 483)
    public static let addressIncomplete = SIPStatus(rawValue: 484)
    public static let ambiguous = SIPStatus(rawValue: 485)
    public static let busyHere = SIPStatus(rawValue: 486)
    public static let requestTerminated = SIPStatus(rawValue: 487)
    public static let notAcceptableHere = SIPStatus(rawValue: 488)
    /// RFC 6665 8.3.2.
    public static let badEvent = SIPStatus(rawValue: 489)
    public static let requestPending = SIPStatus(rawValue: 491)
    public static let undecipherable = SIPStatus(rawValue: 493)
    public static let serverInternalError = SIPStatus(rawValue: 500)
    public static let notImplemented = SIPStatus(rawValue: 501)
    public static let badGateway = SIPStatus(rawValue: 502)
    public static let serviceUnavailable = SIPStatus(rawValue: 503)
    public static let serverTimeout = SIPStatus(rawValue: 504)
    public static let versionNotSupported = SIPStatus(rawValue: 505)
    public static let messageTooLarge = SIPStatus(rawValue: 513)
    public static let busyEverywhere = SIPStatus(rawValue: 600)
    public static let decline = SIPStatus(rawValue: 603)
    public static let doesNotExistAnywhere = SIPStatus(rawValue: 604)
    public static let notAcceptableAnywhere = SIPStatus(rawValue: 606)

    /// The customary reason phrase; that of the class for an unknown code.
    public var reasonPhrase: String {
        if let phrase = Self.phrases[rawValue] { return phrase }
        switch statusClass {
        case 1: return "Progress"
        case 2: return "OK"
        case 3: return "Redirected"
        case 4: return "Request Failed"
        case 5: return "Server Failed"
        default: return "Failed Everywhere"
        }
    }

    private static let phrases: [Int: String] = [
        100: "Trying", 180: "Ringing", 200: "OK", 202: "Accepted", 204: "No Notification", 300: "Multiple Choices",
        301: "Moved Permanently", 302: "Moved Temporarily", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden",
        404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required",
        408: "Request Timeout", 409: "Conflict", 410: "Gone", 412: "Conditional Request Failed", 413: "Request Entity Too Large",
        414: "Request-URI Too Long", 415: "Unsupported Media Type", 416: "Unsupported URI Scheme", 420: "Bad Extension",
        421: "Extension Required", 423: "Interval Too Brief", 480: "Temporarily Unavailable",
        481: "Call/Transaction Does Not Exist", 482: "Loop Detected", 483: "Too Many Hops", 484: "Address Incomplete",
        485: "Ambiguous", 486: "Busy Here", 487: "Request Terminated", 488: "Not Acceptable Here", 489: "Bad Event",
        491: "Request Pending", 493: "Undecipherable", 500: "Server Internal Error", 501: "Not Implemented", 502: "Bad Gateway",
        503: "Service Unavailable", 504: "Server Time-out", 505: "Version Not Supported", 513: "Message Too Large",
        600: "Busy Everywhere", 603: "Decline", 604: "Does Not Exist Anywhere", 606: "Not Acceptable",
    ]
}
