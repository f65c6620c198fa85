extension SIPResponse {
    /// Removes fields and body except the fields that match the response (RFC 3261 8.2.6.2) and those that its status requires (RFC
    /// 3261 21, RFC 3903 6, RFC 6665 4.2.1), so that a forged source address gains little amplification.
    ///
    /// Leaves a 2xx unchanged, except to OPTIONS, where RFC 3261 11.2 only recommends the lists.
    public mutating func keepRequired() {
        guard !status.isSuccess || method == .options else { return }
        body = []
        for name in Set(headers.lines.map(\.name)) where !Self.always.contains(name) && !Self.required(by: status).contains(name) {
            headers.remove(name)
        }
    }

    private static let always: Set<SIPHeaderName> = [.via, .from, .to, .callID, .cSeq]

    private static func required(by status: SIPStatus) -> [SIPHeaderName] {
        switch status.rawValue {
        case 300..<400: [.contact]
        case 401: [SIPHeaderName(known: .wwwAuthenticate)]
        case 405: [.allow]
        case 407: [SIPHeaderName(known: .proxyAuthenticate)]
        case 415: [.accept, .acceptEncoding]
        case 420: [.unsupported]
        case 421: [.require]
        case 423: [.minExpires]
        case 480, 500, 503: [.retryAfter]
        case 489: [.allowEvents]
        default: []
        }
    }
}
