import FederationRouting
import SIPCore

/// Moves messages, time and records for the flows of a shard, and knows none of them: it names their records by tickets.
///
///     receive --TransactionLayer--> KernelHost.receive (requests)    KernelClient.receive (responses)
///     RequestDelivery.send, respond --commit--> takeOutput
///     timers --advance--> KernelClient.timerDue
final class GatewayKernel {
    private(set) var configuration: GatewayConfiguration
    /// Counters since the start. Apart from ``notes``, because code that is lent the counters may log.
    var counters = GatewayCounters()
    /// Journal and log records, for operators.
    var notes: OperatorNotes
    var identifiers: Identifiers
    var transactions: TransactionLayer
    var timers = DeadlineQueue<Ticket>()
    var commitLog: CommitLog
    var work = WorkMeasure()
    var output: [OutboundMessage] = []
    /// Remaining cleanup after closed connections.
    var connectionCleanup: ArraySlice<ConnectionCleanup> = []
    let delivery: RequestDelivery
    /// Values from and to other shards.
    var mailboxes: Mailboxes
    private var users = Users()

    /// The parts of the shard that use the kernel.
    private struct Users {
        /// The flows by number, from 1.
        var clients: [any KernelClient] = []
        /// The owner, which outlives the kernel.
        unowned var host: (any KernelHost)!
    }

    /// Sources of generated identifiers.
    struct Identifiers {
        /// Source of all of them.
        let key: TokenKey
        var tokens: TokenGenerator
    }

    /// The value of Server and User-Agent.
    static let product = "Isthmus"

    /// - Parameters:
    ///   - layer: settings of the transactions.
    ///   - key: source of all generated identifiers.
    ///   - prefix: prefix of all generated tokens, which names the shard.
    ///   - shard: index of the shard.
    ///   - defersCommits: whether the owner carries out the requests to the store.
    init(
        _ configuration: GatewayConfiguration, _ layer: TransactionLayer.Configuration, key: TokenKey, prefix: String,
        shard: Int, store: (any GatewayStore)?, defersCommits: Bool, localAddresses: (any LocalAddressLookup)?
    ) {
        self.configuration = configuration
        identifiers = Identifiers(key: key, tokens: TokenGenerator(key: key.derived(for: "gateway"), prefix: prefix))
        transactions = TransactionLayer(
            configuration: layer, tokens: TokenGenerator(key: key.derived(for: "transactions"), prefix: prefix))
        commitLog = CommitLog(store, isDeferred: defersCommits)
        notes = OperatorNotes(journal: Journal(limit: configuration.limits.journalEntries))
        delivery = RequestDelivery(
            addresses: OwnAddresses(configuration, lookup: localAddresses),
            hops: NextHopResolver(configuration.naming ?? NamingConfiguration(), random: TokenGenerator(key: key.derived(for: "hops"))))
        mailboxes = Mailboxes(of: shard)
        delivery.connect(self)
    }

    /// Connects the kernel with its owner and the flows; call it before the first input.
    func connect(to host: any KernelHost, _ clients: [any KernelClient]) {
        users = Users(clients: clients, host: host)
    }

    var clients: [any KernelClient] { _read { yield users.clients } }
    var host: any KernelHost { users.host }

    var tokens: TokenGenerator {
        _read { yield identifiers.tokens }
        _modify { yield &identifiers.tokens }
    }

    /// Applies a new configuration.
    func use(_ configuration: GatewayConfiguration) {
        self.configuration = configuration
        notes.journal.use(limit: configuration.limits.journalEntries)
        if let naming = configuration.naming { delivery.hops.use(naming) }
        transactions.configuration.take(configuration)
    }

    /// Forgets the flows; no input may follow.
    func disconnect() { users.clients = [] }

    /// The flow of a ticket; nil: the kernel itself.
    func client(of ticket: Ticket) -> (any KernelClient)? {
        ticket.flow == .kernel ? nil : clients[Int(ticket.flow.rawValue) - 1]
    }

    // MARK: input

    /// Processes a message.
    func receive(_ message: InboundMessage, at now: Instant) {
        commitLog.noteInput(at: now)
        let actions = transactions.receive(message, at: now) {
            host.admission(of: $0, from: $1, in: message, at: now)
        } believing: {
            host.mayAnswer($0, from: $1)
        }
        perform(actions, at: now)
        counters.limitsReached += transactions.takeTurnedAway()
    }

    /// Processes a notice of the transport.
    func receive(_ notice: TransportNotice, at now: Instant) {
        commitLog.noteInput(at: now)
        let actions = transactions.receive(notice, at: now)
        switch notice {
        case .closed(let connection, let end): connectionClosed(connection, end, actions, at: now)
        case .late(let span): work.noteLateness(span)
        case .answered(let question, let answer): delivery.receive(answer, to: question, at: now)
        case .carried: perform(actions, at: now)
        case .failed(let token, let reason):
            perform(actions, at: now)
            delivery.unansweredFailed(token, reason, at: now)
        }
    }

    // MARK: time

    /// Limits of timers fired in one call, per scheduled timer and at least: a timer that is set for the same moment again and again is
    /// logged and does not block the event loop.
    private static let turnsPerTimer = 16
    private static let leastTurns = 10_000

    /// Fires the timers that are due.
    func advance(to now: Instant) {
        commitLog.noteInput(at: now)
        perform(transactions.advance(to: now), at: now)
        var turns = Self.turnsPerTimer * timers.count + Self.leastTurns
        while turns > 0, let ticket = timers.popDue(at: now) {
            fire(ticket, at: now)
            turns -= 1
        }
        if turns == 0, work.reportsSpin(at: now) {
            log(.error, "timers do not come to an end", ["timers": String(timers.count)])
        }
    }

    private func fire(_ ticket: Ticket, at now: Instant) {
        if let client = client(of: ticket) { return client.timerDue(ticket, at: now) }
        if KernelTimer.isLookup(ticket) {
            delivery.abandonLookup(ticket.key, at: now)
        } else if KernelTimer.isDelivery(ticket) {
            delivery.patienceEnds(ClientTransactionID(rawValue: ticket.number), at: now)
        } else if ticket == KernelTimer.undeliverable {
            delivery.reportUndeliverable(at: now)
        } else if ticket == KernelTimer.connectionCleanup {
            continueConnectionCleanup(at: now)
        }
        // After the timer of the store, the next takeOutput() commits.
    }

    /// Time at which ``advance(to:)`` must be called; nil: no timer runs.
    var nextDeadline: Instant? {
        switch (transactions.nextDeadline, timers.next) {
        case (let one?, let other?): min(one, other)
        case (let one, let other): one ?? other
        }
    }

    // MARK: output

    /// Submits the changes to the store, and returns the messages to send, in order.
    func takeOutput() -> [OutboundMessage] {
        settleStore()
        let taken = output
        output.removeAll(keepingCapacity: true)
        return taken
    }

    /// Returns the log records since the last call, oldest first.
    func takeLogs() -> [GatewayLog] {
        let taken = notes.takeLogs()
        counters.logRecordsDropped += taken.dropped
        return taken.records
    }

    func log(
        _ level: GatewayLog.Level, _ message: GatewayLog.StaticMessage, _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]
    ) {
        guard level >= configuration.logLevel else { return }
        guard notes.hasRoom(configuration.limits.logRecords) else { return notes.dropLog() }
        notes.add(GatewayLog(level, message, fields().map { GatewayLog.Field($0.key, $0.value) }))
    }
}
