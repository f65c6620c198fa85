import GatewayService
import PresenceDocuments
import SIPEvents
import Testing

@testable import PresenceGateway
@testable import isthmus

/// The sentences about failed notifications, unreadable documents and unverified subscriptions.
@Suite struct UnverifiedTextTests {
    static let now = Self.moment(0)

    /// Seconds from now.
    static func moment(_ seconds: Int64) -> DateTime { DateTime(nanosecondsSince1970: (1_700_000_000 + seconds) * 1_000_000_000) }

    static func upstream(
        _ state: UpstreamReport.State = .established, whenLost: LostPresence = .stale, standing: String = "active",
        _ change: (inout UpstreamReport) -> Void = { _ in }
    ) -> UpstreamReport {
        var subscription = UpstreamReport(
            side: "simple", route: "udp:192.0.2.20:5060", format: "pidf", shape: "single", resources: 1, target: "sip:alice@example.org",
            callID: "c", localTag: "t", state: state, failures: 0, standing: standing, whenLost: whenLost.rawValue, hopMarks: [])
        change(&subscription)
        return subscription
    }

    static func subscription(
        _ knowledge: SubscriptionReport.Knowledge = .known, _ subscription: UpstreamReport = upstream(),
        redelivery: RedeliveryReport? = nil
    ) -> SubscriptionReport {
        SubscriptionReport(
            watcher: "sip:bob@contoso.com", presentity: "sip:alice@example.org", event: "presence", format: "application/pidf+xml",
            categories: [], shape: .single, state: .active, source: .far, knowledge: knowledge, callID: "d", localTag: "l", remoteTag: "r",
            expires: moment(3_600), peer: "udp:192.0.2.9:5060", isBestEffort: false, redelivery: redelivery, leg: subscription)
    }

    static func explained(_ subscription: SubscriptionReport, journal: [JournalEntry] = []) -> String {
        let party = PartyReport(uri: "sip:alice@example.org", side: "simple", network: "federated", isHosted: false, isUser: nil)
        let explanation = Explanation(
            watcher: party, presentity: party, route: RouteReport(outcome: .forward, entry: "example.org", reason: "its route"),
            subscriptions: [SubscriptionExplanation(subscription: subscription, delivery: .current, view: ViewExplanation(origin: .pidf))],
            journal: journal)
        return ExplanationText(explanation, at: now).text
    }

    /// The texts of the lines with this label.
    static func lines(_ label: String, of text: String) -> [String] {
        var current = ""
        var found: [String] = []
        for line in text.split(separator: "\n") {
            let words = line.split(separator: "  ", maxSplits: 1, omittingEmptySubsequences: false)
            if let first = words.first, !first.isEmpty { current = String(first) }
            if current == label { found.append(String((words.last ?? "").drop { $0 == " " })) }
        }
        return found
    }

    // MARK: failed notifications

    @Test("`retried` says how often and why notifications failed, when the newest state is sent, and when the subscription ends")
    func retried() {
        let report = RedeliveryReport(
            since: Self.moment(-30), failures: 4, reason: "answered 503", next: Self.moment(16), until: Self.moment(570))
        #expect(
            Self.lines("retried", of: Self.explained(Self.subscription(redelivery: report))) == [
                "failed 4 times since 30 s ago: answered 503",
                "the newest state is sent in 16 s; without an answer the subscription ends in 9 min",
            ])
    }

    @Test("`retried` of the first failure, whose repetition awaits its answer") func retriedOnce() {
        let report = RedeliveryReport(since: Self.moment(-2), failures: 1, reason: "no answer", next: nil, until: Self.moment(600))
        #expect(
            Self.lines("retried", of: Self.explained(Self.subscription(redelivery: report))) == [
                "failed once since 2 s ago: no answer",
                "the newest state is sent, and not answered yet; without an answer the subscription ends in 10 min",
            ])
    }

    @Test("without a failed notification there is no line `retried`") func notRetried() {
        #expect(Self.lines("retried", of: Self.explained(Self.subscription())).isEmpty)
    }

    @Test("TOLD of `isthmus subscriptions` shows since when notifications fail, and their number") func failingSince() {
        let report = RedeliveryReport(
            since: Self.moment(-30), failures: 4, reason: "answered 503", next: Self.moment(16), until: Self.moment(570))
        let text = SubscriptionsCommand.text([Self.subscription(redelivery: report), Self.subscription()], at: Self.now)
        #expect(text.split(separator: "\n").filter { $0.contains("failing since 30 s ago (4)") }.count == 1, "\(text)")
    }

    // MARK: unreadable documents

    @Test("an unreadable document: since when, and why; and what the watcher has is what was known last") func unreadable() {
        let subscription = Self.upstream {
            $0.unverifiedSince = Self.moment(-40)
            $0.unreadable = "the notified document cannot be read: line 1"
            $0.staleAt = Self.moment(60)
        }
        let text = Self.explained(
            Self.subscription(.stale, subscription),
            journal: [
                JournalEntry(
                    at: Self.moment(-40), event: .unreadable, watcher: "sip:bob@contoso.com", presentity: "sip:alice@example.org",
                    callID: "c", rule: "line 1"),
                JournalEntry(
                    at: Self.moment(-90), event: .flawed, watcher: "sip:bob@contoso.com", presentity: "sip:alice@example.org", callID: "c",
                    rule: "RFC 3863 4.1.5: priority"),
            ])
        #expect(
            Self.lines("presence", of: text) == [
                "PIDF received from the remote domain",
                "the state before an unreadable document, shown for a while (timing.stale-after-ms)",
                "unverified since 40 s ago: the last document of the remote domain cannot be read: the notified document cannot be read: line 1",
            ], "\(text)")
        #expect(Self.lines("has", of: text) == ["exactly what was known last"])
        #expect(text.contains("its last state ends in 60 s"))
        #expect(
            Self.lines("journal", of: text) == [
                "40 s ago, notified document cannot be read: line 1; Call-ID c",
                "90 s ago, notified document has flaws: RFC 3863 4.1.5: priority; Call-ID c",
            ])
        #expect(
            SubscriptionsCommand.text([Self.subscription(.stale, subscription)], at: Self.now).contains("stale, unverified since 40 s ago"))
    }

    @Test(
        "an unreadable document explains what is shown meanwhile",
        arguments: [
            (SubscriptionReport.Knowledge.offline, LostPresence.stale, "active"), (.offline, .offline, "active"),
            (.offline, .pending, "pending"), (.known, .pending, "pending"), (.unknown, .stale, "unheard"),
        ])
    func shownMeanwhile(_ knowledge: SubscriptionReport.Knowledge, _ whenLost: LostPresence, _ standing: String) {
        let subscription = Self.upstream(whenLost: whenLost, standing: standing) { $0.unreadable = "line 1" }
        let expected =
            switch (knowledge, whenLost) {
            case (.offline, .stale):
                "the last document is unreadable, and the state before it is no longer shown (timing.stale-after-ms)"
            case (.offline, .offline): "the last documents are unreadable: offline until one is read (when-lost: offline)"
            case (.offline, _): "the last documents are unreadable: in a batch or list, offline until one is read (when-lost: pending)"
            case (.known, _): "the last documents are unreadable: pending until one is read (when-lost: pending)"
            default: "no readable document was received from the remote domain yet"
            }
        #expect(ExplanationText.reason(Self.subscription(knowledge, subscription)) == expected)
    }

    // MARK: unverified subscriptions

    @Test(
        "an unverified subscription shows since when, and whether the remote domain was unreachable or this gateway restarted",
        arguments: [false, true])
    func unverified(isRestored: Bool) {
        let subscription = Self.upstream {
            $0.unverifiedSince = Self.moment(-5)
            if isRestored { $0.restoredAt = Self.moment(-5) }
        }
        let cause =
            isRestored
            ? "this gateway restarted, and the remote domain has not accepted a SUBSCRIBE since"
            : "the remote domain was unreachable or closed the connection, and has not accepted a SUBSCRIBE since"
        #expect(
            Self.lines("presence", of: Self.explained(Self.subscription(.known, subscription))).last == "unverified since 5 s ago: \(cause)"
        )
    }
}
