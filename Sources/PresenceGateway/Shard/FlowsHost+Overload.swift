import SIPCore

/// Refusal of new work under overload; work in progress continues (RFC 3261 21.5.4).
extension FlowsHost {
    /// - Throws: 503 with Retry-After for a request that begins work while the shard is overloaded.
    func checkLoad(_ request: SIPRequest) throws(Refusal) {
        guard Self.beginsWork(request) else { return }
        guard let cause = kernel.overload else { return }
        counters.overloadRefusals += 1
        log(.notice, "overloaded, new work is refused", ["cause": cause.rawValue, "method": request.method.rawValue])
        // Spread the retries, so that clients refused together do not come back together.
        let base = configuration.timing.retryAfter
        let pause = base + Int(tokens.number(below: UInt64(max(base, 1))))
        throw .unavailable("this node is overloaded", retryAfter: pause, errorID: 2012)
    }

    /// Whether a request begins work: SUBSCRIBE and SERVICE outside a dialog, and PUBLISH without an entity-tag.
    private static func beginsWork(_ request: SIPRequest) -> Bool {
        switch request.method {
        case .subscribe, .service: request.headers.toTag == nil
        case .publish: request.headers.toTag == nil && !request.headers.contains(.sipIfMatch)
        default: false
        }
    }
}
