/// Refusal of a message by the parser; the sender is at fault.
public struct SIPParseError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Kind of refusal, by the rule that is broken.
    public enum Code: String, Sendable {
        case empty, startLine, version, headerSyntax, missingHeader, duplicateHeader, badHeader, contentLength, tooLarge
    }

    /// Kind of refusal, for counters; ``status`` goes into the response.
    public var code: Code
    /// Status of the response: 400, 413, 505 or 513.
    public var status: SIPStatus
    /// Field and rule that is broken; usable as a reason phrase.
    public var reason: String
    /// Readable part of a request, for the response; nil for a response or if no response is possible.
    public var request: SIPRequest?

    /// Creates a refusal; by default with status 400.
    public init(_ code: Code, status: SIPStatus = .badRequest, reason: String, request: SIPRequest? = nil) {
        self.code = code
        self.status = status
        self.reason = reason
        self.request = request
    }

    public var description: String { "\(status.rawValue) \(reason)" }

    /// Response to the sender; nil for a response, an ACK, a BENOTIFY, or without the Via and CSeq by which the sender matches it.
    public func response(toTag: String) -> SIPResponse? {
        guard let request, request.method != .ack, request.method != .benotify, request.headers.contains(.via),
            request.headers.contains(.cSeq)
        else { return nil }
        return SIPResponse(to: request, status: status, reason: reason, toTag: toTag)
    }
}
