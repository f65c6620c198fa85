import PresenceDocuments

/// Copy of a presentity's document that the remote domain updates by differences (RFC 5263 4.4).
struct PartialPresence {
    var copy = PartialPIDFCopy()
    /// Identifier of the virtual subscription in a list (RFC 4662 5.5), each with its own versions; nil: no list.
    let instance: String?
}

/// Decides when an upstream subscription requests the full state, after lost or unusable notifications (RFC 5263 4.4, RFC 4662 5.2).
///
///     miss --> wanted --message processed--> asked (a refresh) --answered--> free again
///
/// After three misses in a row no full state is requested until a message fits: it has an applied difference and no unusable one. A list
/// with both would otherwise be refreshed endlessly.
struct FullStateDemand: Hashable {
    static let limit = 3

    private var misses = 0
    /// Results of the message in progress.
    private var hasMissed = false
    private var hasFitted = false
    private var isAsked = false
    /// Whether a refresh is to be sent.
    private(set) var isWanted = false

    /// Whether a refresh is planned or unanswered.
    var isPending: Bool { isAsked || isWanted }

    /// Whether the limit of misses is reached.
    var isExhausted: Bool { misses >= Self.limit }

    mutating func miss() {
        hasMissed = true
        guard !isAsked, !isWanted else { return }
        isWanted = !isExhausted
        misses += 1
    }

    /// Requests the full state for a new watcher, or after an incomplete state. While a refresh is outstanding this requests another,
    /// because the response may already be under way.
    mutating func want() { isWanted = true }

    mutating func asked() {
        isWanted = false
        isAsked = true
    }

    /// Notes the response to the refresh; the full state follows.
    mutating func answered() { isAsked = false }

    /// Notes a difference that was applied.
    mutating func fitted() { hasFitted = true }

    /// Ends the processing of a message.
    mutating func endMessage() {
        if hasFitted, !hasMissed { misses = 0 }
        (hasFitted, hasMissed) = (false, false)
    }
}
