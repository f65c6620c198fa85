import PresenceDocuments

/// The copy of a presentity's document that the far side keeps up to date by differences (RFC 5263 4.4).
struct PartialPresence {
    var copy = PartialPIDFCopy()
    /// The virtual subscription of a list that it is of (RFC 4662 5.5); its versions are its own.
    let instance: String?
}

/// When a far leg asks for the full state because notifications were lost or make no sense (RFC 5263 4.4, RFC 4662 5.2).
///
///     miss --> wanted --message read to its end--> asked (a refresh) --answered--> free again
///
/// After three misses in a row nothing more is asked for until a message fits again: one with a difference that could be applied, and
/// without one that could not. A list may have both, and would be fetched without end.
struct FullStateDemand: Hashable {
    static let limit = 3

    private var misses = 0
    /// Of the message that is being read.
    private var hasMissed = false
    private var hasFitted = false
    private var isAsked = false
    /// A refresh is to be sent.
    private(set) var isWanted = false

    /// Whether asking did not help.
    var isExhausted: Bool { misses >= Self.limit }

    mutating func miss() {
        hasMissed = true
        guard !isAsked, !isWanted else { return }
        isWanted = !isExhausted
        misses += 1
    }

    /// Somebody joined who has to be told what the others know, or what came is a part of what is not known. While a refresh is on its
    /// way this asks for one more: what answers that one may have been sent already.
    mutating func want() { isWanted = true }

    mutating func asked() {
        isWanted = false
        isAsked = true
    }

    /// The refresh was answered; the full state is on its way.
    mutating func answered() { isAsked = false }

    /// A difference was the next one, and could be applied.
    mutating func fitted() { hasFitted = true }

    /// A message was read to its end.
    mutating func endMessage() {
        if hasFitted, !hasMissed { misses = 0 }
        (hasFitted, hasMissed) = (false, false)
    }
}
