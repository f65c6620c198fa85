import SIPCore

/// Notifications that an upstream subscription lost or could not read, and the requests for the full state after them.
///
///     read --unreadable document--> unread --every ``pause``: one refresh--> unread
///                                     \--the last documents of all presentities were read--> read
struct UpstreamReading {
    var fullState = FullStateDemand()
    /// The flaw of a notified document noted last.
    private(set) var lastFlaw: String?
    /// Time to request the full state again after an unreadable document; nil: the last documents of all presentities were read.
    private(set) var asksAgainAt: Instant?

    /// Time from one refresh to the next while documents cannot be read.
    static let pause = TimeSpan.seconds(30)

    /// Notes a flaw.
    /// - Returns: whether it differs from the one before.
    mutating func note(flaw: String) -> Bool {
        guard lastFlaw != flaw else { return false }
        lastFlaw = flaw
        return true
    }

    /// Notes an unreadable document; a planned refresh keeps its time.
    mutating func becameUnread(at now: Instant) { asksAgainAt = asksAgainAt ?? now + Self.pause }

    /// Notes that the last documents of all presentities were read.
    mutating func becameRead() { asksAgainAt = nil }

    /// Handles the time of the refresh.
    /// - Parameter hasUnreadable: whether a presentity has an unreadable document.
    /// - Returns: whether to request the full state now.
    mutating func advance(hasUnreadable: Bool, at now: Instant) -> Bool {
        guard let moment = asksAgainAt, now >= moment else { return false }
        asksAgainAt = hasUnreadable ? now + Self.pause : nil
        return hasUnreadable
    }

    /// Takes over the time of the refresh from the subscription that this one replaces.
    mutating func adopt(_ other: UpstreamReading) { asksAgainAt = other.asksAgainAt }

    /// Begins a dialog: the remote domain sends the full state.
    mutating func reset() { fullState = FullStateDemand() }
}
