import Administration
import PresenceDocuments
import PresenceGateway
import SIPCore
import SIPTransport
import Synchronization

/// Counters at a moment, to show what happened since.
struct FigureSample: Sendable {
    var counters: GatewayCounters
    var at: Instant
}

/// The first page of the console.
extension ConsolePages {
    func overview() async -> AdministrationAnswer {
        let health = await status.health()
        let numbers = await status.gatewayNumbers()
        let lateness = await status.server.statistics().lateness
        let (rates, since) = rates(numbers.counters)
        let tight = numbers.tables.filter { $0.entries * 5 >= $0.limit * 4 && $0.limit > 0 }
        let down = health.partners.filter { $0.state == "down" }
        let reasons = health.reasons.map { "<li class=\"bad\">\($0)</li>" as HTML }
        let problems: HTML = reasons.isEmpty ? "" : "<ul>\(reasons)</ul>"
        let partners: HTML =
            down.isEmpty
            ? "<p>\(health.partners.count) partner domains, none is down.</p>"
            : HTML.table(
                "Partners that are down", ["Domain", "Since", "Last error"],
                down.map { ["\($0.name)", Self.text($0.since), Self.text($0.lastError)] })
        let tables: HTML =
            tight.isEmpty
            ? "<p>No table is above 80 % of its limit.</p>"
            : HTML.table(
                "Tables near their limit", ["Table", "Entries", "Limit"],
                tight.map { ["\($0.name)", "\($0.entries)", "\($0.limit)"] })
        let durations = numbers.counters.durations
        let delays = [
            ("Commit", durations.commits), ("Response of a partner", durations.partnerResponses), ("Event loop late", lateness),
        ].map { name, values -> [HTML] in
            ["\(name)", "\(values.count)", Self.text(values.bound(of: 0.5)), Self.text(values.bound(of: 0.99))]
        }
        return Self.page(
            "Overview",
            """
            <p>\(Self.state(health.status.rawValue)) Node <b>\(health.node)</b>, version \(health.version), for \
            \(RelativeTime.span(of: health.uptimeSeconds)); listens on \(health.listeners.joined(separator: ", ")).</p>
            \(problems)\
            \(HTML.table("Rates, \(since)", ["What", "A second"], rates.map { ["\($0.name)", "\($0.value)"] }))\
            \(HTML.table("Delays since the start", ["Delay", "Number", "Half within", "99 % within"], delays))\
            \(HTML.table(
                "State", ["What", "Number"], StatusPages.gauges.map { ["\($0.help)", "\(numbers.counts[keyPath: $0.path])"] }))\
            <h2>Partners</h2>\(partners)\
            <h2>Tables</h2>\(tables)
            """)
    }

    /// Events a second since the last look at this page, or since the start if that was less than 1 s or more than 10 min ago.
    private func rates(_ counters: GatewayCounters) -> (rows: [(name: String, value: String)], since: String) {
        let now = status.server.clock.now()
        let before = sample.withLock { sample in
            defer { sample = FigureSample(counters: counters, at: now) }
            return sample.flatMap { (.seconds(1) ... .seconds(600)).contains(now - $0.at) ? $0 : nil }
        }
        let start = before ?? FigureSample(counters: GatewayCounters(), at: status.startedAt)
        let seconds = max((now - start.at).fractionalSeconds, 0.001)
        let kinds: [(String, KeyPath<GatewayCounters, UInt64>)] = [
            ("Requests received", \.requestsReceived), ("Requests sent", \.requestsSent), ("Notifications sent", \.notificationsSent),
            ("Notifications received", \.notificationsReceived), ("Notifications that failed", \.notificationsFailed),
            ("Subscriptions accepted", \.subscriptionsAccepted), ("Subscriptions refused", \.subscriptionsRefused),
            ("Publications accepted", \.publicationsAccepted), ("Publications refused", \.publicationsRefused),
        ]
        let rows = kinds.map { name, path in
            let tenths = Int(Double(counters[keyPath: path] &- start.counters[keyPath: path]) / seconds * 10)
            return (name: name, value: "\(tenths / 10).\(tenths % 10)")
        }
        return (rows, before == nil ? "since the start" : "in the last \(Int(seconds)) s")
    }
}

extension DurationHistogram {
    /// The least bound that a part of the durations does not exceed, as text; nil: there are none.
    func bound(of part: Double) -> String? {
        guard count > 0 else { return nil }
        let wanted = Double(count) * part
        var sum: UInt64 = 0
        for (bucket, bound) in zip(counts, Self.bounds) {
            sum += bucket
            if Double(sum) >= wanted { return "\(bound.nanoseconds / 1_000_000) ms" }
        }
        return "more than \(Self.bounds.last.map { $0.nanoseconds / 1_000_000 } ?? 0) ms"
    }
}
