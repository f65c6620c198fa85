import PresenceGateway
import SIPCore
import ScriptedPeers

/// Behavior of a simulated store engine.
package struct StoreConditions: Sendable, Hashable {
    /// Minimum time from a request to its execution, and from there to its result.
    package var delay: TimeSpan
    /// Additional random time of each way, uniform between zero and this value.
    package var jitter: TimeSpan
    /// Probability, for each request, that it and the later ones of its connection are lost, 0...1.
    package var requestLoss: Double
    /// Probability, for each result, that it and the later ones of its connection are lost, 0...1.
    package var resultLoss: Double
    /// Probability, for each request, that its connection ends while it is under way, 0...1.
    package var connectionLoss: Double
    /// Time from the first lost request or result until the process gives the connection up.
    package var patience: TimeSpan

    /// Creates conditions; by default a delay of 1 ms each way without any failure.
    package init(
        delay: TimeSpan = .milliseconds(1), jitter: TimeSpan = .zero, requestLoss: Double = 0, resultLoss: Double = 0,
        connectionLoss: Double = 0, patience: TimeSpan = .seconds(5)
    ) {
        self.delay = delay
        self.jitter = jitter
        self.requestLoss = requestLoss
        self.resultLoss = resultLoss
        self.connectionLoss = connectionLoss
        self.patience = patience
    }

    /// Results after 2 ms, no failures.
    package static let prompt = StoreConditions()
    /// Results after 0.1 to 2.1 s.
    package static let slow = StoreConditions(delay: .milliseconds(50), jitter: .seconds(1))
    /// Results after 2 to 402 ms; connections end with every eighth request.
    package static let unreliable = StoreConditions(jitter: .milliseconds(200), requestLoss: 0.03, resultLoss: 0.04, connectionLoss: 0.06)
}

/// Store engine in virtual time: carries out the requests of gateway processes on a table of records.
///
///     process --StoreRequest--> connection --delay--> table --delay--> StoreResult --> process
///                                  |                    |
///                                  |                    +- result lost: carried out, reported as failed
///                                  +- request lost: not carried out, reported as failed
///
/// A connection is first in, first out in both directions. After a lost request or result nothing else passes; the process gives the
/// connection up after ``StoreConditions/patience``, and continues on a new one. The outcome of the requests that were under way is
/// unknown: some of them, from the first on, are carried out before the new connection is used, the others are not, and all are reported
/// as failed. Commits that build on them fail on the new connection.
///
/// The events of the network carry the requests; there is no clock and no thread, and equal seeds give equal runs.
package final class SimulatedStore {
    /// Number of troubles since the start.
    package struct Counts: Sendable, Hashable {
        /// Connections that were given up.
        package var reconnections = 0
        /// Commits that are stored, and were reported as failed.
        package var storedUnknown = 0
        /// Commits that are not stored because of a lost connection.
        package var lost = 0
        /// Commits of a process that were carried out after its end.
        package var storedAfterEnd = 0

        /// Creates counts of zero.
        package init() {}

        /// Adds the counts of another engine.
        package static func += (sum: inout Counts, other: Counts) {
            sum.reconnections += other.reconnections
            sum.storedUnknown += other.storedUnknown
            sum.lost += other.lost
            sum.storedAfterEnd += other.storedAfterEnd
        }
    }

    /// The stored records.
    package let table: MemoryStore
    /// Delays and losses of the next requests.
    package var conditions: StoreConditions
    /// Whether requests that arrive wait until this is false again.
    package var isStalled = false {
        didSet { if !isStalled { for connection in connections { connection.work() } } }
    }
    /// Whether the commits under way end with their connection. false breaks a rule: they may be carried out up to 30 s later, beside those
    /// of the new connection.
    package var fencesConnections = true
    /// Troubles so far.
    package internal(set) var counts = Counts()

    let network: SimulatedNetwork
    var random: SeededRandom
    private var connections: [SimulatedStoreConnection] = []

    /// Creates an engine; its random generator depends on the seed only.
    package init(table: MemoryStore = MemoryStore(), on network: SimulatedNetwork, seed: UInt64, conditions: StoreConditions = .prompt) {
        self.table = table
        self.network = network
        self.conditions = conditions
        random = SeededRandom(seed: seed &* 0xC2B2_AE3D_27D4_EB4F &+ 11)
    }

    /// Adds a process.
    package func connect() -> SimulatedStoreConnection {
        let connection = SimulatedStoreConnection(self)
        connections.append(connection)
        return connection
    }

    /// Ends the connections of all processes, as a restart of the engine does; they continue on new ones.
    package func endConnections() {
        for connection in connections { connection.reconnect() }
    }

    /// Decides the requests of ended processes: each is carried out now, or is not carried out at all. A process calls it before it reads
    /// the table.
    package func settle() {
        for connection in connections where connection.isEnded { connection.abandon() }
        connections.removeAll(where: \.isEnded)
    }

    /// Number of requests without a result.
    package var inFlight: Int { connections.reduce(0) { $0 + $1.inFlight } }

    /// Random time of one way.
    func travelTime() -> TimeSpan {
        guard conditions.jitter > .zero else { return conditions.delay }
        return conditions.delay + TimeSpan(nanoseconds: Int64.random(in: 0...conditions.jitter.nanoseconds, using: &random))
    }
}
