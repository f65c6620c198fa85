import SIPCore

/// What waits for the commit: nothing leaves this node that a restart would not know of.
enum Staged {
    /// A 2xx of ours.
    case answer(SIPResponse, ServerTransactionID)
    /// A request that will be answered.
    case request(SIPRequest, Way, Gateway.Awaiting)
    /// A BENOTIFY (MS-SIP 3.5), of the dialog with this tag of ours.
    case unanswered(SIPRequest, Way, tag: String)
}

/// The gateway's dealings with its store.
struct StoreDesk {
    /// What changed since the last commit.
    var unkept: Set<StoreKey> = []
    /// In the order in which it is to leave.
    var staged: [Staged] = []
    /// Take back what the answers of this round promise, last first.
    var undo: [(Instant) -> Void] = []
    /// The last commit failed; until then nothing is tried, and nothing that would have to be kept is begun.
    var failingUntil: Instant?
    /// The time of the last input.
    var now = Instant(nanosecondsSince1970: 0)
    /// The clock was set since the last commit.
    var isClockDue = false

    /// Notifications that were staged since the last commit: by our tag of the dialog, what was recorded of the one before.
    var recordsBefore: [String: NotificationRecord] = [:]
    /// Dialogs, by our tag, of which a notification could not be kept: the newest state leaves with the next successful commit.
    var unsent: Set<String> = []
    /// Far legs of which a NOTIFY was refused while the store failed; no more than there are legs.
    var unheard: Set<UInt64> = []

    /// How long a store that failed is left alone.
    static let pause = TimeSpan.seconds(1)

    var hasChanges: Bool { !unkept.isEmpty || isClockDue }
    var isIdle: Bool { !hasChanges && staged.isEmpty }
}
