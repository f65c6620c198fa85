import GatewayService
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

    @Test("a lost upstream subscription is explained by the shown state: the last, an unconfirmed one, or offline")
    func lostUpstreams() {
        #expect(Self.reason(.stale)?.hasPrefix("the upstream subscription is lost: its last state") == true)
        #expect(Self.reason(.offline)?.contains("its last state is no longer shown (timing.stale-after-ms)") == true)
        #expect(Self.reason(.offline, whenLost: .offline)?.contains("(when-lost: offline)") == true)
        #expect(Self.reason(.offline, whenLost: .pending)?.contains("in a batch or list") == true)
        #expect(
            Self.reason(.known, whenLost: .pending, standing: "pending")
                == "the upstream subscription is lost: the known state is unconfirmed (when-lost: pending)")
    }

    @Test("an upstream subscription that is not lost is explained by the messages of the remote domain") func others() {
        #expect(Self.reason(.known, .established) == nil)
        #expect(
            Self.reason(.known, .established, standing: "pending") == "the remote domain answers pending: the known state is unconfirmed")
        #expect(
            Self.reason(.offline, .established, whenLost: .offline) == "the remote domain accepted the subscription and sent no presence")
        #expect(Self.reason(.unknown, .established, standing: "pending") == "the remote domain has not authorized the subscription yet")
        #expect(Self.reason(.unknown, .asking, standing: "unheard") == "nothing was received from the remote domain yet")
        #expect(Self.reason(.offline, hasUpstream: false) == "the remote domain ended the upstream subscription")
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
