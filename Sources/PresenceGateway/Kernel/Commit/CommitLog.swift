import SIPCore

/// State between the kernel and its store.
struct CommitLog {
    /// nil: no state outlives the process.
    let store: (any GatewayStore)?
    /// Amount by which the wall clock has been set since the start.
    var clockStep = TimeSpan.zero
    /// Keys of records changed since the last commit.
    var unkept: Set<StoreKey> = []
    /// Staged messages, in sending order.
    var staged: [Staged] = []
    /// Undoes changes with staged 2xx responses, last first.
    var undo: [(Instant) -> Void] = []
    /// Run once the changes of this round are committed, in order; dropped when the commit fails.
    var whenKept: [(Instant) -> Void] = []
    /// Set after a failed commit: until then no commit is tried, and requests that depend on the store are refused.
    var failingUntil: Instant?
    /// Time of the last input.
    var now = Instant(nanosecondsSince1970: 0)
    /// Whether the clock was set since the last commit.
    var isClockDue = false

    /// Pause between attempts while the store fails.
    static let pause = TimeSpan.seconds(1)

    var hasChanges: Bool { !unkept.isEmpty || isClockDue }
    var isIdle: Bool { !hasChanges && staged.isEmpty && whenKept.isEmpty }

    init(_ store: (any GatewayStore)?) {
        self.store = store
    }
}
