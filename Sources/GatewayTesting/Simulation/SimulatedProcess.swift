import PresenceGateway
import SIPCore

/// Gateway process that can be killed: afterwards it takes no input and sends nothing, and only its store remains.
final class SimulatedProcess: SansIOEndpoint {
    /// Moment of a kill -9, counted in further inputs.
    enum Death {
        /// After the input was processed, before the commit.
        case beforeCommit(inputs: Int)
        /// After the commit, before its output was sent; with deferred commits after the commit was sent to the store.
        case afterCommit(inputs: Int)
    }

    let gateway: ShardedGateway
    /// Number of its predecessors.
    let number: UInt64
    /// Difference of the wall clock to network time at the start of the process; constant from then on.
    private let lead: TimeSpan
    private let forger: SimulatedForger?
    private let sequences: SimulatedSequences?
    /// Carry out the requests of each shard to its store; empty: the shards do.
    private let links: [any StoreLink]
    /// Carries the envelopes between shards; nil: there is only one.
    private let mailboxes: SimulatedMailboxes?
    private(set) var isDead = false {
        didSet { if isDead { for link in links { link.end() } } }
    }
    private var death: Death?
    private var inputs = 0

    /// - Parameter forger: Observes all output, and is notified of its accepted responses.
    /// - Parameter sequences: Observes the output of this process and of its predecessors.
    /// - Parameter links: Carry out the store requests of a gateway that defers its commits, one for each shard.
    /// - Parameter mailboxes: Carries the envelopes between several shards.
    init(
        _ gateway: ShardedGateway, number: UInt64 = 0, lead: TimeSpan = .zero, forger: SimulatedForger? = nil,
        sequences: SimulatedSequences? = nil,
        links: [any StoreLink] = [], mailboxes: SimulatedMailboxes? = nil
    ) {
        self.gateway = gateway
        self.number = number
        self.lead = lead
        self.forger = forger
        self.sequences = sequences
        self.links = links
        self.mailboxes = mailboxes
        sequences?.beginProcess()
        mailboxes?.beginProcess()
        for (link, shard) in zip(links, gateway.shards) {
            link.receiver = { [weak self] result, now in self?.receive(result, for: shard, at: now) }
        }
    }

    func die(_ death: Death) {
        self.death = death
        inputs = 0
    }

    func kill() { isDead = true }

    /// Cancels a pending kill.
    func spare() { death = nil }

    var isDoomed: Bool { death != nil }

    /// Handles SIGTERM.
    func shutdown(at now: Instant) { gateway.shutdown(at: now + lead) }

    /// Handles SIGHUP.
    func reconfigure(_ configuration: GatewayConfiguration, at now: Instant) { gateway.reconfigure(configuration, at: now + lead) }

    /// Starts the keep-alive requests to partners; the program calls it once after the start.
    func keepPartnersAlive(at now: Instant) { gateway.keepPartnersAlive(at: now + lead) }

    /// - Returns: State restored from the store.
    func restore(from store: any GatewayStore, at now: Instant) throws -> RestoredState {
        try gateway.restore(from: store, at: now + lead)
    }

    func receive(_ message: InboundMessage, at now: Instant) {
        guard !isDead else { return }
        inputs += 1
        let answers = gateway.responsesReceived
        gateway.receive(message, at: now + lead)
        if SimulatedForger.sent(message), gateway.responsesReceived != answers { forger?.noteBelieved(message) }
    }

    func receive(_ notice: TransportNotice, at now: Instant) {
        guard !isDead else { return }
        inputs += 1
        gateway.receive(notice, at: now + lead)
    }

    func receive(wallClock: Instant, at now: Instant) {
        guard !isDead else { return }
        inputs += 1
        gateway.receive(wallClock: wallClock, at: now + lead)
    }

    func advance(to now: Instant) {
        guard !isDead else { return }
        inputs += 1
        gateway.advance(to: now + lead)
    }

    private func receive(_ result: StoreResult, for shard: Gateway, at now: Instant) {
        guard !isDead else { return }
        inputs += 1
        shard.receive(result, at: now + lead)
    }

    func receive(_ envelope: ShardEnvelope, at now: Instant) {
        guard !isDead else { return }
        inputs += 1
        gateway.receive(envelope, at: now + lead)
    }

    /// Whether the store knows by how much the wall clock was set since the start of the process.
    func isStored(wallClock: TimeSpan, in store: MemoryStore) -> Bool { store.clock?.step == wallClock - lead }

    var nextDeadline: Instant? { isDead ? nil : gateway.nextDeadline.map { $0 - lead } }

    func takeQuestions() -> [NameQuestion] { isDead ? [] : gateway.takeQuestions() }

    func takeOutput() -> [OutboundMessage] {
        guard !isDead else { return [] }
        switch death {
        case .beforeCommit(let count) where inputs > count:
            isDead = true
            return []
        case .afterCommit(let count) where inputs > count:
            _ = gateway.takeOutput()
            sendStoreRequests()
            isDead = true
            return []
        default:
            for shard in gateway.shards { _ = shard.takeLogs() }
            let output = gateway.takeOutput()
            sendStoreRequests()
            for envelope in gateway.takeEnvelopes() {
                mailboxes?.carry(envelope) { [weak self] envelope, now in self?.receive(envelope, at: now) }
            }
            for message in output {
                forger?.overhear(message)
                sequences?.note(message)
            }
            return output
        }
    }

    private func sendStoreRequests() {
        for (link, shard) in zip(links, gateway.shards) {
            for request in shard.takeStoreRequests() { link.send(request) }
        }
    }
}
