import SIPCore

/// Bodies with a Content-Encoding (RFC 3261 20.12) are decoded before any other use.
extension ShardMember {
    /// The body without its content coding.
    /// - Throws: 415 for an unknown coding, 413 beyond the limit of bodies, where decoding stops, and 400 for malformed data.
    func decoded(_ body: [UInt8], _ headers: SIPHeaders) throws(Refusal) -> [UInt8] {
        guard !body.isEmpty, headers.contains(.contentEncoding) else { return body }
        do throws(ContentCoding.Failure) {
            return try ContentCoding.decode(body, codings: headers.values(.contentEncoding), limit: configuration.limits.bodyBytes)
        } catch {
            switch error {
            case .unknown: throw .unsupportedEncoding
            case .tooLarge:
                counters.limitsReached += 1
                throw .bodyTooLarge
            case .malformed(let why): throw .badRequest("RFC 3261 20.12: the body is not encoded as it says: \(why)", errorID: 4001)
            }
        }
    }
}

extension FlowsHost {
    /// Decodes the body of a request and removes Content-Encoding. NOTIFY bodies are decoded with their subscription, which becomes
    /// unverified if the body is unreadable.
    func decode(_ request: inout SIPRequest) throws(Refusal) {
        guard request.headers.contains(.contentEncoding), request.method != .notify, request.method != .benotify else { return }
        request.body = try decoded(request.body, request.headers)
        request.headers.remove(.contentEncoding)
    }
}
