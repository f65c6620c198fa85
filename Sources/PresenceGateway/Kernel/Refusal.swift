import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents

/// Refusal of a request: status, explanation for either side, and the headers that the status requires.
package struct Refusal: Error, Equatable {
    var status: SIPStatus
    /// Constant text that names the rule; sent in ms-diagnostics or Warning.
    var explanation: String
    /// MS-OCER error id for enterprise clients; nil: the general id of the status.
    var errorID: UInt32?
    var headers: [Header] = []
    var body: Body?
    /// Deciding detail, for the operator only.
    var detail: String?
    /// Whether the refusal is a step of every sign-in, such as the first challenge, and the request has no fault.
    var isRoutine = false

    struct Header: Equatable {
        var name: SIPHeaderName
        var value: String

        init(_ name: SIPHeaderName, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    struct Body: Equatable {
        var contentType: String
        var bytes: [UInt8]
    }

    init(_ status: SIPStatus, _ explanation: String, errorID: UInt32? = nil, headers: [Header] = [], body: Body? = nil) {
        self.status = status
        self.explanation = explanation
        self.errorID = errorID
        self.headers = headers
        self.body = body
    }

    // MARK: the gateway's vocabulary of refusals

    static let supportedTags = "eventlist, adhoclist, categoryList, ms-piggyback-first-notify, ms-benotify"

    static func badRequest(_ explanation: String, errorID: UInt32? = nil) -> Refusal {
        Refusal(.badRequest, explanation, errorID: errorID)
    }

    static func forbidden(_ explanation: String, errorID: UInt32? = nil) -> Refusal {
        Refusal(.forbidden, explanation, errorID: errorID)
    }

    /// - Parameter allow: the value of Allow (``RequestHandlers/allow``).
    static func methodNotAllowed(_ allow: String) -> Refusal {
        Refusal(.methodNotAllowed, "RFC 3261 8.2.1: \(TransactionLayer.presenceOnly)", headers: [Header(.allow, allow)])
    }

    static func badExtension(_ tags: [String]) -> Refusal {
        Refusal(
            .badExtension, "RFC 3261 8.2.2.3: required extension not supported",
            headers: [Header(.unsupported, tags.joined(separator: ", "))])
    }

    static func extensionRequired(_ tag: String, _ explanation: String) -> Refusal {
        Refusal(.extensionRequired, explanation, headers: [Header(.require, tag)])
    }

    static let notAcceptable = Refusal(.notAcceptable, "RFC 3856 6.7: no acceptable presence format can be produced")

    static func unsupportedMediaType(accept: String) -> Refusal {
        Refusal(.unsupportedMediaType, "RFC 3261 8.2.3: body type not supported here", errorID: 4013, headers: [Header(.accept, accept)])
    }

    static let unsupportedEncoding = Refusal(
        .unsupportedMediaType, "RFC 3261 8.2.3: content encoding not supported",
        headers: [Header(.acceptEncoding, ContentCoding.accepted)])

    /// 413 for a document beyond a limit, 400 for any other unreadable one.
    /// - Parameter limitID: error id of the limit (MS-OCER); by default that of publications.
    static func unreadable(_ error: any Error, _ rule: String, limitID: UInt32 = 2010) -> Refusal {
        let code = (error as? DocumentError)?.code
        return code == .limit
            ? Refusal(.requestEntityTooLarge, "\(rule): \(error)", errorID: limitID)
            : .badRequest("\(rule): \(error)", errorID: unreadableDocumentID)
    }

    /// The error id of a malformed document (MS-OCER).
    static let unreadableDocumentID: UInt32 = 4001

    var isUnreadableDocument: Bool { errorID == Self.unreadableDocumentID }

    static let bodyTooLarge = Refusal(.requestEntityTooLarge, "RFC 3261 21.4.11: body exceeds the configured limit", errorID: 2010)

    static let noSuchDialog = Refusal(
        .callOrTransactionDoesNotExist, "RFC 3261 12.2.2: dialog does not exist", errorID: 2014)

    static let tooManyHops = Refusal(.tooManyHops, "RFC 3261 16.3: Max-Forwards is used up")
    static let loop = Refusal(.loopDetected, "RFC 3261 16.3: this request was here before")

    static func tooBrief(_ minimum: Int) -> Refusal {
        Refusal(.intervalTooBrief, "RFC 6665 4.2.1.1: interval below the minimum", headers: [Header(.minExpires, String(minimum))])
    }

    static func unavailable(_ explanation: String, retryAfter: Int, errorID: UInt32? = nil) -> Refusal {
        Refusal(.serviceUnavailable, explanation, errorID: errorID, headers: [Header(.retryAfter, String(retryAfter))])
    }

    /// Writes the refusal into a response, in the form of the client's side.
    func apply(to response: inout SIPResponse, side: DomainSide, node: String) {
        for header in headers { response.headers.append(header.name, header.value) }
        switch side {
        case .enterprise:
            response.headers.msDiagnostics = MSDiagnostics(errorID ?? Self.errorID(for: status), reason: explanation, source: node)
        case .simple:
            response.headers.append(.warning, Warning(code: 399, agent: node, text: explanation).description)
        }
        if let body {
            response.headers.set(.contentType, body.contentType)
            response.body = body.bytes
        }
    }

    /// The general error id of a status (MS-OCER 7): those of the SIP stack, 1000 to 1999, where no presence id fits.
    private static func errorID(for status: SIPStatus) -> UInt32 {
        switch status {
        case .notFound: 4005
        case .badEvent: 4055
        case .forbidden: 2004
        case .requestEntityTooLarge: 2012
        case .callOrTransactionDoesNotExist: 2014
        case .serviceUnavailable, .serverTimeout: 1046
        default: UInt32(1_000 + status.rawValue)
        }
    }
}
