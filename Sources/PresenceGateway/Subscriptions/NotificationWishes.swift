import SIPCore
import SIPEvents

/// What a watcher asked for in its last SUBSCRIBE about the notifications of the dialog: conditions (RFC 5839) and rates (RFC 6446).
///
/// A condition decides about the notification that the SUBSCRIBE causes, and whether repeated notifications have a body; rates hold until
/// the next SUBSCRIBE. Few watchers ask for either, so it is a class that the dialog has or has not.
final class NotificationWishes {
    /// Value of Suppress-If-Match.
    enum Condition: Equatable {
        /// Nothing is to be notified.
        case always
        /// Nothing is to be notified if the state has this entity-tag.
        case tag(String)

        init(_ value: String) { self = value == "*" ? .always : .tag(value) }

        func isMet(by tag: String?) -> Bool {
            switch self {
            case .always: true
            case .tag(let expected): expected == tag
            }
        }
    }

    let rates: NotificationRates?
    /// Whether the last SUBSCRIBE had a condition.
    let isConditional: Bool
    /// The condition of a SUBSCRIBE whose notification was not sent yet.
    private(set) var condition: Condition?
    /// Times of the last notifications, oldest first, as far as the rates need them.
    private var sent: [Instant] = []
    /// Whether the notification being made repeats the state without a change.
    private(set) var isRepeating = false

    /// Reads a SUBSCRIBE; nil: it asks for nothing.
    /// - Throws: 400 for a rate that is no positive decimal number.
    init?(_ headers: SIPHeaders, _ event: Event, spacing: TimeSpan) throws(Refusal) {
        rates = try NotificationRates(event, spacing: spacing)
        condition = headers.first(.suppressIfMatch).map { Condition($0) }
        isConditional = condition != nil
        if rates == nil, !isConditional { return nil }
    }

    /// Restores the wishes of a stored dialog.
    init?(stored text: String, spacing: TimeSpan) {
        guard let event = Event(text), let rates = try? NotificationRates(event, spacing: spacing) else { return nil }
        self.rates = rates
        isConditional = event.parameters.contains(Self.conditional)
    }

    /// The wishes as the store keeps them; nil: a restart needs none of them.
    var stored: String? { rates.map { "rates" + $0.parameters + (isConditional ? ";" + Self.conditional : "") } }

    private static let conditional = "conditional"

    /// Takes the condition of the last SUBSCRIBE, whose notification is being sent.
    func takeCondition() -> Condition? {
        defer { condition = nil }
        return condition
    }

    // MARK: rates

    /// Notes a notification.
    func notified(at now: Instant) {
        isRepeating = false
        guard let rates, rates.repeats else { return }
        sent.removeAll { moment in rates.period.map { moment + $0 <= now } ?? true }
        if sent.count >= 32 { sent.removeFirst() }
        sent.append(now)
    }

    /// Time of the next notification without a change; nil: none.
    var nextRepeat: Instant? {
        guard let last = sent.last, let pause = rates?.pause(after: sent.count) else { return nil }
        return last + pause
    }

    /// Begins a notification without a change.
    func beginRepeat() { isRepeating = true }
}
