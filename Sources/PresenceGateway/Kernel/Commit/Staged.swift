import SIPCore

/// Message that waits for the commit, so that nothing is sent that a restart would not know.
enum Staged {
    /// 2xx response.
    case answer(SIPResponse, ServerTransactionID)
    /// Request that gets a response.
    case request(SIPRequest, RequestRoute, RequestOrigin)
    /// BENOTIFY (MS-SIP 3.5).
    case unanswered(SIPRequest, RequestRoute, RequestOrigin)
}

/// State between the gateway and its store.
struct CommitLog {
    /// Keys of records changed since the last commit.
    var unkept: Set<StoreKey> = []
    /// Staged messages, in sending order.
    var staged: [Staged] = []
    /// Undoes changes with staged 2xx responses, last first.
    var undo: [(Instant) -> Void] = []
    /// Run once the changes of this round are committed, in order; dropped when the commit fails.
    var whenKept: [(Instant) -> Void] = []
    /// State of dialogs, by local tag, before the first uncommitted SUBSCRIBE in them; at most one per dialog.
    var watchersBefore: [String: WatcherDialogBefore] = [:]
    var homeDialogsBefore: [String: HomeDialogBefore] = [:]
    /// Set after a failed commit: until then no commit is tried, and requests that depend on the store are refused.
    var failingUntil: Instant?
    /// Time of the last input.
    var now = Instant(nanosecondsSince1970: 0)
    /// Whether the clock was set since the last commit.
    var isClockDue = false

    /// Notification records from before the notifications staged since the last commit, by local tag of the dialog.
    var recordsBefore: [String: NotificationRecord] = [:]
    /// Local tags of dialogs with a notification that was not stored; the next successful commit sends the newest state.
    var unsent: Set<String> = []
    /// Upstream subscriptions with a NOTIFY refused while the store failed.
    var unheard: Set<UInt64> = []

    /// Pause between attempts while the store fails.
    static let pause = TimeSpan.seconds(1)

    var hasChanges: Bool { !unkept.isEmpty || isClockDue }
    var isIdle: Bool { !hasChanges && staged.isEmpty && whenKept.isEmpty }
}
