import SIPCore

/// Bodies with a Content-Encoding (RFC 3261 20.12): nothing but this looks at them before they are decoded.
extension Gateway {
    /// The body as its Content-Type describes it.
    /// - Throws: 415 for a coding that is not known, 413 beyond the limit of bodies, at no more cost than that limit, and 400.
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

    /// Decodes the body of a request, and removes the header that described it. The body of a NOTIFY is decoded where its subscription is
    /// known, which is marked unverified when the body cannot be read.
    func decode(_ request: inout SIPRequest) throws(Refusal) {
        guard request.headers.contains(.contentEncoding), request.method != .notify, request.method != .benotify else { return }
        request.body = try decoded(request.body, request.headers)
        request.headers.remove(.contentEncoding)
    }
}
