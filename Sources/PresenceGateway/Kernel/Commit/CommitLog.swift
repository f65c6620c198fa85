import SIPCore

/// State between the kernel and its store.
///
///     open --submit--> in flight (several, in order) --committed--> steps run, messages are sent
///                          |
///                          +--failed--> dropped with all later ones and the open one; their records are read again
///
///     working --failed--> reading --records--> failing --committed--> working
///                           ^   |                 |
///                           +---+ not read        +--failed--> reading
struct CommitLog {
    /// Changes of one commit, and what waits for it.
    struct Batch {
        let number: UInt64
        /// Keys of changed records.
        var keys: Set<StoreKey> = []
        /// Steps that run once the changes are stored, in order.
        var steps: [(Instant) -> Void] = []
        /// Messages that are sent then, in order.
        var messages: [WaitingMessage] = []
        /// Local tags of dialogs with such a message.
        var dialogs: [String] = []
        /// Whether the clock was set.
        var isClockDue = false

        mutating func add(_ message: WaitingMessage, ofDialog dialog: String?) {
            messages.append(message)
            if let dialog { dialogs.append(dialog) }
        }

        var hasChanges: Bool { !keys.isEmpty || isClockDue }
        var isEmpty: Bool { !hasChanges && steps.isEmpty && messages.isEmpty }
    }

    /// What the store does at present.
    enum Phase {
        case working
        /// The records of a failed commit are read again.
        /// - Parameter retryAt: time of the next attempt; nil: one is in progress.
        case reading(Set<StoreKey>, retryAt: Instant?)
        /// Until the given time no commit is tried, and requests that depend on the store are refused.
        case failing(until: Instant)
    }

    /// nil: no state outlives the process.
    let store: (any GatewayStore)?
    /// Whether the owner of the gateway carries out the requests to the store.
    let isDeferred: Bool
    /// The requests carried out by the gateway itself.
    var session: StoreSession?
    /// Requests that were not taken yet.
    var requests: [StoreRequest] = []
    /// Amount by which the wall clock has been set since the start.
    var clockStep = TimeSpan.zero
    /// Messages of the present round, in order, which may change further records.
    var round: [WaitingMessage] = []
    /// Changes since the last submitted commit.
    var open = Batch(number: 1)
    /// Submitted commits, oldest first.
    var inFlight: [Batch] = []
    /// Commit that the next one builds on; nil: none, or it failed.
    var predecessor: UInt64?
    var phase = Phase.working
    /// Requests of failed commits, until their records are read.
    var unsent: [WaitingMessage] = []
    /// Number of the last request to read records.
    var lastRead: UInt64 = 0
    var dependencies = CommitDependencies()
    /// Time of the last input.
    var now = Instant(nanosecondsSince1970: 0)

    /// Pause between attempts while the store fails.
    static let pause = TimeSpan.seconds(1)
    /// Maximum number of commits in flight; later changes form one commit.
    static let flightLimit = 8

    init(_ store: (any GatewayStore)?, isDeferred: Bool) {
        self.store = store
        self.isDeferred = isDeferred
        session = isDeferred ? nil : store.map { StoreSession($0) }
    }

    var isWorking: Bool { if case .working = phase { true } else { false } }

    /// Whether nothing waits to be stored or read.
    var isIdle: Bool {
        guard round.isEmpty, open.isEmpty, inFlight.isEmpty else { return false }
        if case .reading = phase { return false }
        return true
    }

    /// Number of messages that wait for a commit.
    var waitingMessages: Int { inFlight.reduce(round.count + open.messages.count) { $0 + $1.messages.count } }

    /// Whether a change made now would only wait for the store to work again.
    func isRefusing(at now: Instant) -> Bool {
        switch phase {
        case .working: false
        case .reading: true
        case .failing(let until): now < until
        }
    }

    /// Notes the change of a record.
    mutating func note(_ key: StoreKey) {
        guard open.keys.insert(key).inserted else { return }
        dependencies.note(key.dependencyName, open.number)
    }

    /// Lets a message wait for a commit that is not stored yet.
    /// - Parameter dialog: local tag of its dialog, whose later messages do not overtake it.
    mutating func add(_ message: WaitingMessage, waitingFor number: UInt64, ofDialog dialog: String?) {
        if let dialog { dependencies.note(dialog, number) }
        if let index = inFlight.firstIndex(where: { $0.number >= number }) {
            inFlight[index].add(message, ofDialog: dialog)
        } else {
            open.add(message, ofDialog: dialog)
        }
    }

    /// Whether a change is not stored, so that messages may have to wait.
    var hasUnstored: Bool { !inFlight.isEmpty || open.hasChanges || !isWorking }

    // MARK: submission

    /// Submits the open changes.
    mutating func submit(_ changes: [StoreChange]) {
        requests.append(.commit(number: open.number, after: predecessor, changes))
        predecessor = open.number
        inFlight.append(open)
        open = Batch(number: open.number + 1)
    }

    /// Takes what waits although no record was changed since the last commit; with one in flight it waits for that.
    mutating func takeUnchanged() -> Batch? {
        guard !open.isEmpty else { return nil }
        let unchanged = open
        open = Batch(number: open.number)
        guard !inFlight.isEmpty else { return unchanged }
        inFlight[inFlight.count - 1].steps += unchanged.steps
        inFlight[inFlight.count - 1].messages += unchanged.messages
        inFlight[inFlight.count - 1].dialogs += unchanged.dialogs
        return nil
    }

    /// Takes the stored commit; nil: it was given up before.
    mutating func take(committed number: UInt64) -> Batch? {
        guard inFlight.first?.number == number else { return nil }
        let batch = inFlight.removeFirst()
        for key in batch.keys { dependencies.forget(key.dependencyName, number) }
        for dialog in batch.dialogs { dependencies.forget(dialog, number) }
        return batch
    }

    /// Gives up the commits in flight and the open one, because the oldest failed.
    /// - Returns: those; empty: the failed one was given up before.
    mutating func giveUp(failed number: UInt64) -> [Batch] {
        guard inFlight.first?.number == number else { return [] }
        let given = inFlight + [open]
        inFlight = []
        predecessor = nil
        open = Batch(number: open.number + 1)
        let keys = given.reduce(into: Set<StoreKey>()) { $0.formUnion($1.keys) }
        dependencies.clear()
        for key in keys { dependencies.note(key.dependencyName, CommitDependencies.unknown) }
        phase = .reading(keys, retryAt: nil)
        requestRead(keys)
        return given
    }

    /// Asks for the records of a failed commit.
    mutating func requestRead(_ keys: Set<StoreKey>) {
        lastRead += 1
        requests.append(.read(number: lastRead, Array(keys)))
    }

    /// Takes the requests of the failed commits.
    mutating func takeUnsent() -> [WaitingMessage] {
        defer { unsent = [] }
        return unsent
    }

    /// Ends the reading: the records are known, and are stored with the next commit, since some are newer in memory.
    mutating func endReading(_ keys: Set<StoreKey>) {
        dependencies.clear()
        open.isClockDue = true
        for key in open.keys { dependencies.note(key.dependencyName, open.number) }
        for key in keys { note(key) }
    }

    mutating func takeRequests() -> [StoreRequest] {
        defer { requests = [] }
        return requests
    }
}
