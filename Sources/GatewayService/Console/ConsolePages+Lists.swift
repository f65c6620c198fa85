import Administration
import PresenceDocuments
import PresenceGateway
import SIPTransport

/// Lists of the console: partners, presentities and subscriptions, with filters and pages.
extension ConsolePages {
    func partners(_ question: inout InspectionQuestion) async throws(QuestionError) -> AdministrationAnswer {
        let state = question.peek("state")
        let page = try await inspection.partnerPage(&question)
        let time = RelativeTime(now: .current())
        let rows = page.rows.map { row -> [HTML] in
            [
                HTML.link(row.name, "/console/subscriptions", [("domain", row.name)]), Self.state(row.state.rawValue),
                Self.text(row.since.map(time.ago)), Self.text(row.smoothedRoundTripMs.map { "\($0) ms" }),
                "\(row.sent)", "\(row.received)", "\(row.watched)",
                Self.text(row.certificate.map { "ends \(time.ahead($0.notAfter))" }),
                Self.text(row.lastFailure.map { "\(time.ago($0.at)): \($0.reason)" }),
            ]
        }
        let table = HTML.table(
            "Partners: domains that are not hosted here",
            ["Domain", "State", "Since", "Round trip", "Sent", "Received", "Watched", "Certificate", "Last failure"], rows)
        return Self.page(
            "Partners",
            """
            <form>\(HTML.choice("State", "state", state, of: PartnerContact.State.allCases.map(\.rawValue), none: "any"))\
            <button>Show</button></form>
            \(rows.isEmpty ? "<p>No partner domain is in this state.</p>" : table)\
            \(Self.next(page.next, "/console/partners", [("state", state)]))
            """)
    }

    func presentities(_ question: inout InspectionQuestion) async throws(QuestionError) -> AdministrationAnswer {
        let (presentity, domain, state) = (question.peek("presentity"), question.peek("domain"), question.peek("state"))
        let page = try await inspection.presentityPage(&question)
        let rows = page.rows.map { row -> [HTML] in
            [
                HTML.link(row.presentity, "/console/subscriptions", [("presentity", row.presentity)]), "\(row.state.rawValue)",
                "\(row.watchers)", "\(row.publications)", "\(row.endpoints)", "\(row.ownDialogs)",
            ]
        }
        let table = HTML.table(
            "Presentities that are published or watched here",
            ["Presentity", "State", "Watchers", "Publications", "Endpoints", "Own dialogs"], rows)
        return Self.page(
            "Presentities",
            """
            <form>\(HTML.field("Presentity", "presentity", presentity, hint: "sip:alice@example.org"))\
            \(HTML.field("Domain", "domain", domain, hint: "example.org"))\
            \(HTML.choice("State", "state", state, of: PresentityReport.State.allCases.map(\.rawValue), none: "any"))\
            <button>Show</button></form>
            \(rows.isEmpty ? "<p>No presentity matches.</p>" : table)\
            \(Self.next(page.next, "/console/presentities", [("presentity", presentity), ("domain", domain), ("state", state)]))
            """)
    }

    func subscriptions(_ question: inout InspectionQuestion) async throws(QuestionError) -> AdministrationAnswer {
        let filters = ["watcher", "presentity", "domain", "state", "call-id"].map { ($0, question.peek($0)) }
        let page = try await inspection.subscriptionPage(&question)
        let time = RelativeTime(now: .current())
        let rows = page.rows.map { row -> [HTML] in
            let pair = [("watcher", row.watcher), ("presentity", row.presentity)]
            return [
                row.presentity.isEmpty ? "\(row.watcher)" : HTML.link(row.watcher, "/console/why", pair), Self.text(row.presentity),
                "\(row.shape == .single ? row.format : "\(row.shape.rawValue), \(row.format)")", Self.state(row.state.rawValue),
                "\(row.source.rawValue)", "\(row.knowledge.rawValue)",
                Self.text(
                    row.redelivery.map { "failing since \(time.ago($0.since))" }
                        ?? row.notification.map { "\(time.ago($0.at)), \($0.cause.rawValue)" }),
                "\(time.ahead(row.expires))", Self.text(row.leg?.state.rawValue),
            ]
        }
        let table = HTML.table(
            "Live subscriptions; a batch or list has a row for each of its presentities",
            ["Watcher", "Presentity", "Format", "State", "Source", "Presence", "Notified", "Ends", "Upstream"], rows)
        return Self.page(
            "Subscriptions",
            """
            <form>\(HTML.field("Watcher", "watcher", filters[0].1, hint: "sip:bob@contoso.com"))\
            \(HTML.field("Presentity", "presentity", filters[1].1, hint: "sip:alice@example.org"))\
            \(HTML.field("Domain", "domain", filters[2].1, hint: "example.org"))\
            \(HTML.choice("State", "state", filters[3].1, of: SubscriptionReport.State.allCases.map(\.rawValue), none: "any"))\
            \(HTML.field("Call-ID", "call-id", filters[4].1))\
            <button>Show</button></form>
            \(rows.isEmpty ? "<p>No live subscription matches.</p>" : table)\
            \(Self.next(page.next, "/console/subscriptions", filters))
            """)
    }

    // MARK: cells

    static func text(_ value: String?) -> HTML { value.map { $0.isEmpty ? "-" : "\($0)" } ?? "-" }

    /// A state, whose color shows whether it needs attention.
    static func state(_ value: String) -> HTML {
        let kind: HTML =
            switch value {
            case "up", "active", "ok": "good"
            case "down", "terminated", "store failing", "stopping": "bad"
            default: "plain"
            }
        return "<span class=\"\(kind)\">\(value)</span>"
    }

    /// The link to the rows after these.
    private static func next(_ cursor: String?, _ path: String, _ filters: [(String, String)]) -> HTML? {
        cursor.map {
            "<p>\(HTML.link("Next rows", path, filters.filter { !$0.1.isEmpty }.map { (name: $0.0, value: $0.1) } + [("after", $0)]))</p>"
        }
    }
}

extension DateTime {
    /// The wall clock.
    static func current() -> DateTime { DateTime(HostClock().now()) }
}
