import PresenceDocuments
import Testing

@testable import PresenceGateway
@testable import isthmus

/// The sentences of `isthmus explain`.
@Suite struct ExplanationTextTests {
    /// Explanation of a single subscription with an upstream subscription in this state.
    static func reason(
        _ knowledge: SubscriptionReport.Knowledge, _ state: UpstreamReport.State = .resting, whenLost: LostPresence = .stale,
        standing: String = "active", hasUpstream: Bool = true
    ) -> String? {
        let upstream = UpstreamReport(
            side: "simple", route: "udp:192.0.2.20:5060", format: "pidf", shape: "single", resources: 1, target: "sip:alice@example.org",
            callID: "c", localTag: "t", state: state, failures: state == .resting ? 1 : 0, standing: standing, whenLost: whenLost.rawValue,
            hopMarks: [])
        return ExplanationText.reason(
            SubscriptionReport(
                watcher: "sip:bob@contoso.com", presentity: "sip:alice@example.org", event: "presence", format: "application/pidf+xml",
                categories: [], shape: .single, state: .active, source: hasUpstream ? .far : .none, knowledge: knowledge, callID: "d",
                localTag: "l", remoteTag: "r", expires: DateTime(nanosecondsSince1970: 0), peer: "udp:192.0.2.9:5060",
                isBestEffort: false, leg: hasUpstream ? upstream : nil))
    }

    @Test("a lost far leg is explained by what is shown meanwhile: the last word, nothing that is vouched for, or offline")
    func lostUpstreams() {
        #expect(Self.reason(.stale)?.hasPrefix("the far leg is lost: this is its last word") == true)
        #expect(Self.reason(.offline)?.contains("no last word is shown any longer (timing.stale-after-ms)") == true)
        #expect(Self.reason(.offline, whenLost: .offline)?.contains("(when-lost: offline)") == true)
        #expect(Self.reason(.offline, whenLost: .pending)?.contains("in a batch or list") == true)
        #expect(
            Self.reason(.known, whenLost: .pending, standing: "pending")
                == "the far leg is lost: nobody vouches for what is known (when-lost: pending)")
    }

    @Test("a leg that is not lost is explained by what the far side said") func others() {
        #expect(Self.reason(.known, .established) == nil)
        #expect(Self.reason(.known, .established, standing: "pending") == "the far side says pending: nobody vouches for what is known")
        #expect(Self.reason(.offline, .established, whenLost: .offline) == "the far side granted the subscription and told nothing")
        #expect(Self.reason(.unknown, .established, standing: "pending") == "the far side has not decided yet")
        #expect(Self.reason(.unknown, .asking, standing: "unheard") == "the far side was not heard yet")
        #expect(Self.reason(.offline, hasUpstream: false) == "the far side ended its leg")
    }

    @Test(
        "what a presentity publishes as PIDF is not said to be unpublished", arguments: [ViewExplanation.Origin.pidf, .both, .categories])
    func publishedAsPIDF(_ origin: ViewExplanation.Origin) {
        let party = PartyReport(uri: "sip:bob@example.org", side: "simple", network: "federated", isHosted: true, isUser: nil)
        var view = ViewExplanation(origin: origin)
        view.containers = ["state", "note"].map {
            ContainerReport(category: $0, container: nil, rule: "not published", member: nil, candidates: [], instances: [])
        }
        var explanation = Explanation(
            watcher: party, presentity: party, route: RouteReport(outcome: .local, entry: "example.org", reason: "hosted here"))
        explanation.preview = view
        let text = ExplanationText(explanation, at: DateTime(nanosecondsSince1970: 0)).text
        #expect(text.contains("not published: state, note") == (origin == .categories), "\(text)")
        #expect(text.contains("in no container, so that the published PIDF decides: state, note") == (origin != .categories), "\(text)")
    }
}
