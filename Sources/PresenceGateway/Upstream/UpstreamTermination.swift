import FederationRouting
import SIPCore
import SIPEvents

/// Reason for missing presence that watchers can receive.
struct UpstreamTermination {
    var failure: Subscriber.Failure
    var reason: TerminationReason
    /// Reason in a resource list, verbatim.
    var word: String?
    var statusCode: Int?
    /// Routing failure that prevented the SUBSCRIBE; nil: it was sent.
    var routingFailure: HopFailure?

    init(_ failure: Subscriber.Failure, routingFailure: HopFailure? = nil) {
        self.failure = failure
        self.routingFailure = routingFailure
        reason = TerminationReason(failure)
    }

    /// Converts `terminated` in a resource list (MS-PRES 3.4.5.1.3.1, RFC 4662 5.5): the reason decides; without one, the status.
    init(_ instanceState: UpstreamContent.InstanceState) {
        let status = instanceState.statusCode.flatMap { (400..<700).contains($0) ? $0 : nil }
        word = instanceState.reason
        statusCode = instanceState.statusCode
        if instanceState.reason == nil, let status {
            failure = .refused(status: status)
            reason = TerminationReason(failure)
        } else {
            reason = TerminationReason(rlmi: instanceState.reason)
            failure = status.map { .refused(status: $0) } ?? .terminated(reason)
        }
    }
}

extension TerminationReason {
    /// The reason sent to a watcher after its upstream subscription failed for good.
    init(_ failure: Subscriber.Failure) {
        switch failure {
        case .refused(let status): self = TerminationReason(refusal: status) ?? .probation
        case .terminated(let reason): self = reason ?? .noresource
        case .silent, .lapsed: self = .probation
        }
    }

    /// The reason of an RLMI instance (RFC 4662 5.5, MS-PRES 3.4.5.1.3.1).
    init(rlmi reason: String?) {
        switch reason {
        case "rejected": self = .rejected
        case "quotaExceeded": self = .probation
        case let reason?: self = TerminationReason(rawValue: reason)
        case nil: self = .noresource
        }
    }
}

extension Refusal {
    /// The refusal if the presentity's domain cannot be located (MS-OCER: 1008 unable to resolve DNS SRV record).
    init(unlocated failure: HopFailure) {
        let status: SIPStatus
        switch failure.kind {
        case .absent: status = .notFound
        case .notAllowed: status = .forbidden
        case .unknown: status = .serverTimeout
        }
        self.init(status, "the presentity's side cannot be located: \(failure)", errorID: 1_008)
    }

    /// The response to a poll that the remote domain refused.
    init(passing termination: UpstreamTermination, retryAfter: Int) {
        let (failure, reason) = (termination.failure, termination.reason)
        if let routingFailure = termination.routingFailure {
            self.init(unlocated: routingFailure)
        } else if case .silent = failure {
            self.init(.serverTimeout, "the presentity's side did not answer")
        } else if case .refused(480) = failure {
            self.init(.temporarilyUnavailable, "the presentity's side cannot say now", headers: [Header(.retryAfter, String(retryAfter))])
        } else if case .refused(let status) = failure, [401, 407].contains(status) {
            self = .unavailable("the presentity's domain asks this gateway for credentials", retryAfter: retryAfter)
        } else if case .refused(482) = failure {
            self = .loop
        } else if case .refused(483) = failure {
            self = .tooManyHops
        } else if reason == .rejected {
            self = .forbidden("the presentity's side refused the subscription")
        } else if reason == .noresource {
            self.init(.notFound, "the presentity's side does not know the presentity")
        } else {
            self = .unavailable("the presentity's side cannot say now", retryAfter: retryAfter)
        }
    }
}
