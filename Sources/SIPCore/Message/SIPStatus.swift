/// A status code (RFC 3261 21), 100 to 699; open.
public struct SIPStatus: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    public var rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    public var description: String { "\(rawValue) \(reasonPhrase)" }

    public static func < (left: SIPStatus, right: SIPStatus) -> Bool { left.rawValue < right.rawValue }

    public var isProvisional: Bool { rawValue < 200 }
    public var isSuccess: Bool { rawValue >= 200 && rawValue < 300 }
    public var isFinal: Bool { rawValue >= 200 }

    public static var trying: SIPStatus { SIPStatus(rawValue: 100) }
    public static var ringing: SIPStatus { SIPStatus(rawValue: 180) }
    public static var ok: SIPStatus { SIPStatus(rawValue: 200) }
    /// RFC 6665 8.3.1: read like 200, never sent for SUBSCRIBE.
    public static var accepted: SIPStatus { SIPStatus(rawValue: 202) }
    /// RFC 5839.
    public static var noNotification: SIPStatus { SIPStatus(rawValue: 204) }
    public static var multipleChoices: SIPStatus { SIPStatus(rawValue: 300) }
    public static var movedPermanently: SIPStatus { SIPStatus(rawValue: 301) }
    public static var movedTemporarily: SIPStatus { SIPStatus(rawValue: 302) }
    public static var badRequest: SIPStatus { SIPStatus(rawValue: 400) }
    public static var unauthorized: SIPStatus { SIPStatus(rawValue: 401) }
    public static var forbidden: SIPStatus { SIPStatus(rawValue: 403) }
    public static var notFound: SIPStatus { SIPStatus(rawValue: 404) }
    public static var methodNotAllowed: SIPStatus { SIPStatus(rawValue: 405) }
    public static var notAcceptable: SIPStatus { SIPStatus(rawValue: 406) }
    public static var proxyAuthenticationRequired: SIPStatus { SIPStatus(rawValue: 407) }
    public static var requestTimeout: SIPStatus { SIPStatus(rawValue: 408) }
    /// MS-PRES 3.2.5: a publication with a stale version.
    public static var conflict: SIPStatus { SIPStatus(rawValue: 409) }
    public static var gone: SIPStatus { SIPStatus(rawValue: 410) }
    /// RFC 3903 11.2.1.
    public static var conditionalRequestFailed: SIPStatus { SIPStatus(rawValue: 412) }
    public static var requestEntityTooLarge: SIPStatus { SIPStatus(rawValue: 413) }
    public static var requestURITooLong: SIPStatus { SIPStatus(rawValue: 414) }
    public static var unsupportedMediaType: SIPStatus { SIPStatus(rawValue: 415) }
    public static var unsupportedURIScheme: SIPStatus { SIPStatus(rawValue: 416) }
    public static var badExtension: SIPStatus { SIPStatus(rawValue: 420) }
    public static var extensionRequired: SIPStatus { SIPStatus(rawValue: 421) }
    public static var intervalTooBrief: SIPStatus { SIPStatus(rawValue: 423) }
    public static var temporarilyUnavailable: SIPStatus { SIPStatus(rawValue: 480) }
    public static var callOrTransactionDoesNotExist: SIPStatus { SIPStatus(rawValue: 481) }
    public static var loopDetected: SIPStatus { SIPStatus(rawValue: 482) }
    public static var tooManyHops: SIPStatus { SIPStatus(rawValue: 483) }
    public static var addressIncomplete: SIPStatus { SIPStatus(rawValue: 484) }
    public static var ambiguous: SIPStatus { SIPStatus(rawValue: 485) }
    public static var busyHere: SIPStatus { SIPStatus(rawValue: 486) }
    public static var requestTerminated: SIPStatus { SIPStatus(rawValue: 487) }
    public static var notAcceptableHere: SIPStatus { SIPStatus(rawValue: 488) }
    /// RFC 6665 8.3.2.
    public static var badEvent: SIPStatus { SIPStatus(rawValue: 489) }
    public static var requestPending: SIPStatus { SIPStatus(rawValue: 491) }
    public static var undecipherable: SIPStatus { SIPStatus(rawValue: 493) }
    public static var serverInternalError: SIPStatus { SIPStatus(rawValue: 500) }
    public static var notImplemented: SIPStatus { SIPStatus(rawValue: 501) }
    public static var badGateway: SIPStatus { SIPStatus(rawValue: 502) }
    public static var serviceUnavailable: SIPStatus { SIPStatus(rawValue: 503) }
    public static var serverTimeout: SIPStatus { SIPStatus(rawValue: 504) }
    public static var versionNotSupported: SIPStatus { SIPStatus(rawValue: 505) }
    public static var messageTooLarge: SIPStatus { SIPStatus(rawValue: 513) }
    public static var busyEverywhere: SIPStatus { SIPStatus(rawValue: 600) }
    public static var decline: SIPStatus { SIPStatus(rawValue: 603) }
    public static var doesNotExistAnywhere: SIPStatus { SIPStatus(rawValue: 604) }
    public static var notAcceptableAnywhere: SIPStatus { SIPStatus(rawValue: 606) }

    /// The customary reason phrase; that of the class for an unknown code.
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
