import SIPEvents
import Testing

@Suite struct TerminationReasonTests {
    @Test("RFC 6665 8.2.3 header values are written as the grammar says")
    func headerValues() {
        #expect(SubscriptionStatus.active(expires: 60).headerValue == "active;expires=60")
        #expect(SubscriptionStatus.pending(expires: nil).headerValue == "pending")
        #expect(
            SubscriptionStatus.terminated(reason: .probation, retryAfter: 5).headerValue == "terminated;reason=probation;retry-after=5")
        #expect(
            SubscriptionStatus.terminated(reason: TerminationReason(rawValue: "Moved"), retryAfter: nil).headerValue
                == "terminated;reason=moved")
    }

    @Test(
        "refusals of the far side have a reason unless they pass",
        arguments: [(403, "rejected"), (603, "rejected"), (404, "noresource"), (489, "noresource")])
    func refusals(status: Int, reason: String) {
        #expect(TerminationReason(refusal: status)?.rawValue == reason)
        #expect(TerminationReason(refusal: 503) == nil)
        #expect(TerminationReason(refusal: 480) == nil)
    }
}
