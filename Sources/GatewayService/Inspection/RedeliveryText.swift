import PresenceGateway

extension RedeliveryReport {
    /// Sentences about failed notifications: start, reason and next attempt.
    package func lines(by time: RelativeTime) -> [String] {
        let times = failures == 1 ? "once" : "\(failures) times"
        let next = next.map { "the newest state is sent \(time.ahead($0))" } ?? "the newest state is sent, and not answered yet"
        return [
            "failed \(times) since \(time.ago(since)): \(reason)",
            "\(next); without an answer the subscription ends \(time.ahead(until))",
        ]
    }
}
