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
        /// Time of its submission; nil: it was not submitted yet.
        var submittedAt: Instant?
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

    /// Present activity of the store.
    enum Phase {
        /// The records of an earlier process are restored; nothing is submitted, because the tables are not whole.
        case restarting
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
    private var session: StoreSession?
    /// Requests that were not taken yet.
    private var requests: [StoreRequest] = []
    /// Amount by which the wall clock has been set since the start.
    private(set) var clockStep = TimeSpan.zero
    /// Messages of the present round, in order, which may change further records.
    private var round: [WaitingMessage] = []
    /// Changes since the last submitted commit.
    private(set) var open = Batch(number: 1)
    /// Submitted commits, oldest first.
    private(set) var inFlight: [Batch] = []
    /// Commit in flight that the next one builds on; nil: none. One that is stored needs no check, and a new connection of the store does
    /// not know it.
    private var predecessor: UInt64?
    private(set) var phase = Phase.working
    /// Requests of failed commits, until their records are read.
    private var unsent: [WaitingMessage] = []
    /// Number of the last request to read records.
    private(set) var lastRead: UInt64 = 0
    private(set) var dependencies = CommitDependencies()
    /// Time of the last input.
    private(set) var now = Instant(nanosecondsSince1970: 0)

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
        switch phase {
        case .restarting, .reading: return false
        case .working, .failing: return true
        }
    }

    /// Number of messages that wait for a commit.
    var waitingMessages: Int { inFlight.reduce(round.count + open.messages.count) { $0 + $1.messages.count } }

    /// Whether a change made now would only wait for the store to work again.
    func isRefusing(at now: Instant) -> Bool {
        switch phase {
        case .working, .restarting: false
        case .reading: true
        case .failing(let until): now < until
        }
    }

    var hasRound: Bool { !round.isEmpty }
    var hasRequests: Bool { !requests.isEmpty }

    // MARK: restart

    mutating func beginRestart() { phase = .restarting }

    mutating func endRestart() { phase = .working }

    // MARK: inputs

    /// Notes the time of an input.
    mutating func noteInput(at now: Instant) { self.now = now }

    /// Notes that the wall clock was set; the next commit stores it.
    mutating func noteClockStep(_ step: TimeSpan) {
        clockStep = step
        open.isClockDue = store != nil
    }

    /// Adds a message to the present round.
    mutating func add(_ message: WaitingMessage) { round.append(message) }

    /// Lets a step wait for the changes made until now.
    mutating func add(step: @escaping (Instant) -> Void) { open.steps.append(step) }

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

    /// Lets a message wait until the records of a failed commit are read; it then counts as not sent.
    mutating func add(unsent message: WaitingMessage) { unsent.append(message) }

    /// Takes the messages of the present round.
    mutating func takeRound() -> [WaitingMessage] {
        defer { round = [] }
        return round
    }

    /// Whether a change is not stored, so that messages may have to wait.
    var hasUnstored: Bool { !inFlight.isEmpty || open.hasChanges || !isWorking }

    // MARK: submission

    /// Prepares a submission: asks again for the records that could not be read, or tries again to store.
    /// - Returns: false: no commit may be tried now.
    mutating func prepareSubmission(at now: Instant) -> Bool {
        switch phase {
        case .working: return true
        case .restarting: return false
        case .reading(let keys, let retryAt):
            if let retryAt, now >= retryAt { read(keys) }
            return false
        case .failing(let until):
            guard now >= until else { return false }
            // The attempt shows whether the store works again, also without changes.
            if inFlight.isEmpty { open.isClockDue = true }
            return true
        }
    }

    /// Submits the open changes.
    mutating func submit(_ changes: [StoreChange]) {
        requests.append(.commit(number: open.number, after: predecessor, changes))
        predecessor = open.number
        open.submittedAt = now
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

    /// Carries out a request, if the gateway does so itself.
    mutating func perform(_ request: StoreRequest) -> StoreResult? { session?.perform(request) }

    // MARK: results

    /// Notes that the store works.
    /// - Returns: whether it did not before.
    mutating func noteWorking() -> Bool {
        defer { phase = .working }
        return !isWorking
    }

    /// Takes the stored commit; nil: it was given up before.
    mutating func take(committed number: UInt64) -> Batch? {
        guard inFlight.first?.number == number else { return nil }
        let batch = inFlight.removeFirst()
        if inFlight.isEmpty { predecessor = nil }
        for key in batch.keys { dependencies.forget(key.dependencyName, number) }
        for dialog in batch.dialogs { dependencies.forget(dialog, number) }
        return batch
    }

    /// Gives up the commits in flight and the open one, because the oldest failed; their requests wait until the records are read.
    /// - Returns: the number of changes, and the answers to be refused; nil: the failed commit was given up before.
    mutating func giveUp(failed number: UInt64) -> (changes: Int, answers: [WaitingMessage])? {
        guard inFlight.first?.number == number else { return nil }
        let given = inFlight + [open]
        inFlight = []
        predecessor = nil
        open = Batch(number: open.number + 1)
        let keys = given.reduce(into: Set<StoreKey>()) { $0.formUnion($1.keys) }
        dependencies.clear()
        for key in keys { dependencies.note(key.dependencyName, CommitDependencies.unknown) }
        read(keys)
        let messages = given.flatMap(\.messages)
        unsent += messages.filter { !$0.isAnswer }
        return (given.reduce(0) { $0 + $1.keys.count }, messages.filter(\.isAnswer))
    }

    /// Asks for the records of a failed commit.
    private mutating func read(_ keys: Set<StoreKey>) {
        phase = .reading(keys, retryAt: nil)
        lastRead += 1
        requests.append(.read(number: lastRead, Array(keys)))
    }

    /// Ends the reading: the records are known, and are stored with the next commit, since some are newer in memory.
    /// - Parameter next: time of the next attempt to store.
    /// - Returns: the requests of the failed commits.
    mutating func endReading(_ keys: Set<StoreKey>, retryAt next: Instant) -> [WaitingMessage] {
        defer { unsent = [] }
        phase = .failing(until: next)
        dependencies.clear()
        open.isClockDue = true
        for key in open.keys { dependencies.note(key.dependencyName, open.number) }
        for key in keys { note(key) }
        return unsent
    }

    /// Notes that the records could not be read.
    mutating func noteUnread(_ keys: Set<StoreKey>, retryAt next: Instant) { phase = .reading(keys, retryAt: next) }

    mutating func takeRequests() -> [StoreRequest] {
        defer { requests = [] }
        return requests
    }
}
