/// Status code (RFC 3261 21), 100 to 699; unknown codes are kept.
public struct SIPStatus: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    public var rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    public var description: String { "\(rawValue) \(reasonPhrase)" }

    public static func < (left: SIPStatus, right: SIPStatus) -> Bool { left.rawValue < right.rawValue }

    /// Whether the code is below 200.
    public var isProvisional: Bool { rawValue < 200 }
    /// Whether the code is 200 to 299.
    public var isSuccess: Bool { rawValue >= 200 && rawValue < 300 }
    /// Whether the code is 200 or higher.
    public var isFinal: Bool { rawValue >= 200 }

    /// RFC 3261 21.1.1.
    public static var trying: SIPStatus { SIPStatus(rawValue: 100) }
    /// RFC 3261 21.1.2.
    public static var ringing: SIPStatus { SIPStatus(rawValue: 180) }
    /// RFC 3261 21.2.1.
    public static var ok: SIPStatus { SIPStatus(rawValue: 200) }
    /// RFC 6665 8.3.1: handled like 200, not sent for SUBSCRIBE.
    public static var accepted: SIPStatus { SIPStatus(rawValue: 202) }
    /// RFC 5839.
    public static var noNotification: SIPStatus { SIPStatus(rawValue: 204) }
    /// RFC 3261 21.3.1.
    public static var multipleChoices: SIPStatus { SIPStatus(rawValue: 300) }
    /// RFC 3261 21.3.2.
    public static var movedPermanently: SIPStatus { SIPStatus(rawValue: 301) }
    /// RFC 3261 21.3.3.
    public static var movedTemporarily: SIPStatus { SIPStatus(rawValue: 302) }
    /// RFC 3261 21.4.1.
    public static var badRequest: SIPStatus { SIPStatus(rawValue: 400) }
    /// RFC 3261 21.4.2.
    public static var unauthorized: SIPStatus { SIPStatus(rawValue: 401) }
    /// RFC 3261 21.4.4.
    public static var forbidden: SIPStatus { SIPStatus(rawValue: 403) }
    /// RFC 3261 21.4.5.
    public static var notFound: SIPStatus { SIPStatus(rawValue: 404) }
    /// RFC 3261 21.4.6.
    public static var methodNotAllowed: SIPStatus { SIPStatus(rawValue: 405) }
    /// RFC 3261 21.4.7.
    public static var notAcceptable: SIPStatus { SIPStatus(rawValue: 406) }
    /// RFC 3261 21.4.8.
    public static var proxyAuthenticationRequired: SIPStatus { SIPStatus(rawValue: 407) }
    /// RFC 3261 21.4.9.
    public static var requestTimeout: SIPStatus { SIPStatus(rawValue: 408) }
    /// MS-PRES 3.2.5: a publication with a stale version.
    public static var conflict: SIPStatus { SIPStatus(rawValue: 409) }
    /// RFC 3261 21.4.10.
    public static var gone: SIPStatus { SIPStatus(rawValue: 410) }
    /// RFC 3903 11.2.1.
    public static var conditionalRequestFailed: SIPStatus { SIPStatus(rawValue: 412) }
    /// RFC 3261 21.4.11.
    public static var requestEntityTooLarge: SIPStatus { SIPStatus(rawValue: 413) }
    /// RFC 3261 21.4.12.
    public static var requestURITooLong: SIPStatus { SIPStatus(rawValue: 414) }
    /// RFC 3261 21.4.13.
    public static var unsupportedMediaType: SIPStatus { SIPStatus(rawValue: 415) }
    /// RFC 3261 21.4.14.
    public static var unsupportedURIScheme: SIPStatus { SIPStatus(rawValue: 416) }
    /// RFC 3261 21.4.15.
    public static var badExtension: SIPStatus { SIPStatus(rawValue: 420) }
    /// RFC 3261 21.4.16.
    public static var extensionRequired: SIPStatus { SIPStatus(rawValue: 421) }
    /// RFC 3261 21.4.17.
    public static var intervalTooBrief: SIPStatus { SIPStatus(rawValue: 423) }
    /// RFC 3261 21.4.18.
    public static var temporarilyUnavailable: SIPStatus { SIPStatus(rawValue: 480) }
    /// RFC 3261 21.4.19.
    public static var callOrTransactionDoesNotExist: SIPStatus { SIPStatus(rawValue: 481) }
    /// RFC 3261 21.4.20.
    public static var loopDetected: SIPStatus { SIPStatus(rawValue: 482) }
    /// RFC 3261 21.4.21.
    public static var tooManyHops: SIPStatus { SIPStatus(rawValue: 483) }
    /// RFC 3261 21.4.22.
    public static var addressIncomplete: SIPStatus { SIPStatus(rawValue: 484) }
    /// RFC 3261 21.4.23.
    public static var ambiguous: SIPStatus { SIPStatus(rawValue: 485) }
    /// RFC 3261 21.4.24.
    public static var busyHere: SIPStatus { SIPStatus(rawValue: 486) }
    /// RFC 3261 21.4.25.
    public static var requestTerminated: SIPStatus { SIPStatus(rawValue: 487) }
    /// RFC 3261 21.4.26.
    public static var notAcceptableHere: SIPStatus { SIPStatus(rawValue: 488) }
    /// RFC 6665 8.3.2.
    public static var badEvent: SIPStatus { SIPStatus(rawValue: 489) }
    /// RFC 3261 21.4.27.
    public static var requestPending: SIPStatus { SIPStatus(rawValue: 491) }
    /// RFC 3261 21.4.28.
    public static var undecipherable: SIPStatus { SIPStatus(rawValue: 493) }
    /// RFC 3261 21.5.1.
    public static var serverInternalError: SIPStatus { SIPStatus(rawValue: 500) }
    /// RFC 3261 21.5.2.
    public static var notImplemented: SIPStatus { SIPStatus(rawValue: 501) }
    /// RFC 3261 21.5.3.
    public static var badGateway: SIPStatus { SIPStatus(rawValue: 502) }
    /// RFC 3261 21.5.4.
    public static var serviceUnavailable: SIPStatus { SIPStatus(rawValue: 503) }
    /// RFC 3261 21.5.5.
    public static var serverTimeout: SIPStatus { SIPStatus(rawValue: 504) }
    /// RFC 3261 21.5.6.
    public static var versionNotSupported: SIPStatus { SIPStatus(rawValue: 505) }
    /// RFC 3261 21.5.7.
    public static var messageTooLarge: SIPStatus { SIPStatus(rawValue: 513) }
    /// RFC 3261 21.6.1.
    public static var busyEverywhere: SIPStatus { SIPStatus(rawValue: 600) }
    /// RFC 3261 21.6.2.
    public static var decline: SIPStatus { SIPStatus(rawValue: 603) }
    /// RFC 3261 21.6.3.
    public static var doesNotExistAnywhere: SIPStatus { SIPStatus(rawValue: 604) }
    /// RFC 3261 21.6.4.
    public static var notAcceptableAnywhere: SIPStatus { SIPStatus(rawValue: 606) }

    /// Usual reason phrase; that of the class for an unknown code.
    public var reasonPhrase: String {
        switch rawValue {
        case 100: return "Trying"
        case 180: return "Ringing"
        case 200: return "OK"
        case 202: return "Accepted"
        case 204: return "No Notification"
        case 300: return "Multiple Choices"
        case 301: return "Moved Permanently"
        case 302: return "Moved Temporarily"
        case 400: return "Bad Request"
        case 401: return "Unauthorized"
        case 403: return "Forbidden"
        case 404: return "Not Found"
        case 405: return "Method Not Allowed"
        case 406: return "Not Acceptable"
        case 407: return "Proxy Authentication Required"
        case 408: return "Request Timeout"
        case 409: return "Conflict"
        case 410: return "Gone"
        case 412: return "Conditional Request Failed"
        case 413: return "Request Entity Too Large"
        case 414: return "Request-URI Too Long"
        case 415: return "Unsupported Media Type"
        case 416: return "Unsupported URI Scheme"
        case 420: return "Bad Extension"
        case 421: return "Extension Required"
        case 423: return "Interval Too Brief"
        case 480: return "Temporarily Unavailable"
        case 481: return "Call/Transaction Does Not Exist"
        case 482: return "Loop Detected"
        case 483: return "Too Many Hops"
        case 484: return "Address Incomplete"
        case 485: return "Ambiguous"
        case 486: return "Busy Here"
        case 487: return "Request Terminated"
        case 488: return "Not Acceptable Here"
        case 489: return "Bad Event"
        case 491: return "Request Pending"
        case 493: return "Undecipherable"
        case 500: return "Server Internal Error"
        case 501: return "Not Implemented"
        case 502: return "Bad Gateway"
        case 503: return "Service Unavailable"
        case 504: return "Server Time-out"
        case 505: return "Version Not Supported"
        case 513: return "Message Too Large"
        case 600: return "Busy Everywhere"
        case 603: return "Decline"
        case 604: return "Does Not Exist Anywhere"
        case 606: return "Not Acceptable"
        case 100..<200: return "Progress"
        case 200..<300: return "OK"
        case 300..<400: return "Redirected"
        case 400..<500: return "Request Failed"
        case 500..<600: return "Server Failed"
        default: return "Failed Everywhere"
        }
    }
}
