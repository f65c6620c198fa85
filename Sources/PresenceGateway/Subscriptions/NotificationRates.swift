import SIPCore

/// Rates of notifications that a watcher asks for in Event (RFC 6446).
///
/// Rates are kept as the span between two notifications. One that this node does not grant is replaced by the nearest that it does, and
/// Subscription-State names the one in use.
struct NotificationRates: Equatable {
    /// The parameters of Event and Subscription-State.
    static let names = ["max-rate", "min-rate", "adaptive-min-rate"]
    /// Shortest span between notifications without a change.
    static let shortestRepeat = TimeSpan.seconds(10)
    /// Longest span, whatever was asked for.
    static let longestSpan = TimeSpan.seconds(604_800)
    /// Spans over which the number of notifications is averaged for ``adaptive`` (RFC 6446 7.2).
    private static let averaged = 5

    /// Span between notifications of changes, at least (`max-rate`).
    private(set) var least: TimeSpan?
    /// Span after which the state is notified without a change (`min-rate`).
    private(set) var longest: TimeSpan?
    /// The same on average (`adaptive-min-rate`).
    private(set) var adaptive: TimeSpan?

    /// Reads the rates of a SUBSCRIBE; nil: it has none.
    /// - Parameter spacing: span between notifications of changes that this node keeps anyway.
    /// - Throws: 400 if a rate is no positive decimal number.
    init?(_ event: Event, spacing: TimeSpan) throws(Refusal) {
        least = try Self.span(event, "max-rate").map { max($0, spacing) }
        let floor = max(Self.shortestRepeat, max(least ?? .zero, spacing))
        longest = try Self.span(event, "min-rate").map { max($0, floor) }
        adaptive = try Self.span(event, "adaptive-min-rate").map { max($0, floor) }
        if least == nil, longest == nil, adaptive == nil { return nil }
    }

    private static func span(_ event: Event, _ name: String) throws(Refusal) -> TimeSpan? {
        guard event.parameters.contains(name) else { return nil }
        let text = event.parameters[name] ?? ""
        let isDecimal = text.utf8.count <= 20 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        guard isDecimal, let rate = Double(text), rate > 0 else {
            throw .badRequest("RFC 6446 9: \(name) is '\(text.prefix(20))', not a positive decimal number")
        }
        return TimeSpan(nanoseconds: Int64(min(1e9 / rate, Double(longestSpan.nanoseconds))))
    }

    /// The span after which the state is notified again, when the last notification was one of several.
    /// - Parameter recent: notifications in the span that is averaged.
    func pause(after recent: Int) -> TimeSpan? {
        let onAverage = adaptive.map { span in
            // RFC 6446 7.2: count / (rate^2 * period), and the period is a multiple of 1 / rate.
            max(span * max(min(recent, Self.averaged * 4), 1) / Self.averaged, max(Self.shortestRepeat, least ?? .zero))
        }
        return [longest, onAverage].compactMap(\.self).min()
    }

    /// The time over which notifications are averaged.
    var period: TimeSpan? { adaptive.map { $0 * Self.averaged } }

    /// Whether the state is notified without a change.
    var repeats: Bool { longest != nil || adaptive != nil }

    /// The rates in use, as parameters of Subscription-State.
    var parameters: String {
        zip(Self.names, [least, longest, adaptive]).map { name, span in span.map { ";\(name)=\(Self.text($0))" } ?? "" }.joined()
    }

    /// The rate of a span, rounded down to a millionth, so that what is said is kept.
    private static func text(_ span: TimeSpan) -> String {
        let millionths = max(span.nanoseconds <= 0 ? 1_000_000 : 1_000_000_000_000_000 / span.nanoseconds, 1)
        var fraction = String(millionths % 1_000_000)
        fraction = String(repeating: "0", count: 6 - fraction.utf8.count) + fraction
        while fraction.utf8.count > 1, fraction.hasSuffix("0") { fraction.removeLast() }
        return "\(millionths / 1_000_000).\(fraction)"
    }
}

extension Event {
    /// The event without the parameters of its notification rates, which belong to one SUBSCRIBE.
    var withoutRates: Event {
        guard !parameters.all.isEmpty else { return self }
        var event = self
        for name in NotificationRates.names { event.parameters.remove(name) }
        return event
    }
}
