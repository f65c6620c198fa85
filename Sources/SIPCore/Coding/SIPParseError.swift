/// Why a message was refused; always the sender's fault.
public struct SIPParseError: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Code: String, Sendable {
        case empty, startLine, version, headerSyntax, missingHeader, duplicateHeader, badHeader, contentLength, tooLarge
    }

    public var code: Code
    /// 400, 413, 505, 513.
    public var status: SIPStatus
    /// Names the field and the rule; fit to be a reason phrase.
    public var reason: String
    /// What could be read of a request, for the answer; nil for a response or when nothing can be answered.
    public var request: SIPRequest?

    public init(_ code: Code, status: SIPStatus = .badRequest, reason: String, request: SIPRequest? = nil) {
        self.code = code
        self.status = status
        self.reason = reason
        self.request = request
    }

    public var description: String { "\(status.rawValue) \(reason)" }

    /// The answer to the sender; nil for a response, an ACK, a BENOTIFY, and without Via or CSeq, by which it would find its request.
    public func response(toTag: String) -> SIPResponse? {
        guard let request, request.method != .ack, request.method != .benotify, request.headers.contains(.via),
            request.headers.contains(.cSeq)
        else { return nil }
        return SIPResponse(to: request, status: status, reason: reason, toTag: toTag)
    }
}
