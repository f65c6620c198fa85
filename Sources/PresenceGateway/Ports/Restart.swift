import SIPCore

/// Phases of a restart, in order. A phase restores its records by their rank, then each flow completes it.
enum RestartPhase: Int, CaseIterable, Comparable {
    /// Data, registrations and relayed publications of users.
    case users
    /// Watchers that were shown presence.
    case shownWatchers
    /// PIDF publications.
    case publications
    /// Dialogs with state at once: they are notified of what expires next.
    case readyDialogs
    /// Publications are composed, and what expired meanwhile ends.
    case expiry
    case upstreamSubscriptions
    /// Dialogs that upstream subscriptions feed.
    case fedDialogs
    /// Upstream subscriptions are refreshed, restarted or unsubscribed, paced.
    case turns
    /// Subscriptions end that the present configuration refuses.
    case rights
    /// Watchers that see a difference are notified once.
    case notifications
    /// Registrations that expired meanwhile end.
    case registrations

    static func < (left: RestartPhase, right: RestartPhase) -> Bool { left.rawValue < right.rawValue }
}

/// Place of a stored record in the order of a restart; records of equal rank keep the order of the store.
struct RestoreRank: Comparable {
    var phase: RestartPhase
    /// Order within the phase: a number or time, then two names.
    var number: Int64 = 0
    var name = ""
    var secondName = ""

    static func < (left: RestoreRank, right: RestoreRank) -> Bool {
        (left.phase, left.number, left.name, left.secondName) < (right.phase, right.number, right.name, right.secondName)
    }
}

/// Progress of a restart, passed from phase to phase.
struct Restart {
    /// Counts for operators.
    var state = RestoredState()
    /// Upstream subscriptions of an earlier process; empty before their phase.
    var upstreams = RestoredUpstreamSubscriptions()
    /// Keys of presentities, or tags of dialogs, that the present phase has not completed; nil: it has not begun.
    var uncompleted: ArraySlice<String>?

    /// Largest number of records that are restored or completed in one step.
    static let stepLimit = 500

    /// The next names to complete, in the order of the first call in a phase.
    /// - Parameter all: all names of the phase.
    mutating func next(of all: @autoclosure () -> [String]) -> (names: ArraySlice<String>, isLast: Bool) {
        let left = uncompleted ?? all()[...]
        let rest = left.dropFirst(Self.stepLimit)
        uncompleted = rest.isEmpty ? nil : rest
        return (left.prefix(Self.stepLimit), rest.isEmpty)
    }
}
