extension SIPResponse {
    /// Leaves what the client needs to take the answer (RFC 3261 8.2.6.2) and what its status has to say (RFC 3261 21, RFC 3903 6, RFC 6665
    /// 4.2.1), so that a request with a false source address brings little more upon its victim than it cost.
    ///
    /// A 2xx keeps everything but the lists of an OPTIONS, which RFC 3261 11.2 only recommends.
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
