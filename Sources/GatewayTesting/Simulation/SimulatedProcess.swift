import PresenceGateway
import SIPCore

/// A gateway that can be killed: from then on it takes nothing in and nothing comes out, and only its store remains.
final class SimulatedProcess: SansIOEndpoint {
    /// When a kill -9 hits, counted from the inputs that are still taken.
    enum Death {
        /// After the input was worked on, before anything was committed.
        case beforeCommit(inputs: Int)
        /// After the commit, before what it allowed was sent.
        case afterCommit(inputs: Int)
    }

    let gateway: Gateway
    /// How far the wall clock was ahead of the network's when the process started; it counts evenly from there on.
    private let lead: TimeSpan
    private let forger: SimulatedForger
    private let sequences: SimulatedSequences
    private(set) var isDead = false
    private var death: Death?
    private var inputs = 0

    /// - Parameter forger: overhears what leaves, and is told which of its answers were believed.
    /// - Parameter sequences: sees everything that leaves, of this process and of those before it.
    init(_ gateway: Gateway, lead: TimeSpan, forger: SimulatedForger, sequences: SimulatedSequences) {
        self.gateway = gateway
        self.lead = lead
        self.forger = forger
        self.sequences = sequences
    }

    func die(_ death: Death) {
        self.death = death
        inputs = 0
    }

    func kill() { isDead = true }

    /// Whatever was to kill it does not come.
    func spare() { death = nil }

    var isDoomed: Bool { death != nil }

    /// SIGTERM.
    func shutdown(at now: Instant) { gateway.shutdown(at: now + lead) }

    /// SIGHUP.
    func reconfigure(_ configuration: GatewayConfiguration, at now: Instant) { gateway.reconfigure(configuration, at: now + lead) }

    /// What the program calls once after the start.
    func keepPartnersAlive(at now: Instant) { gateway.keepPartnersAlive(at: now + lead) }

    /// - Returns: what was restored of the store.
    func restore(at now: Instant) throws -> RestoredState { try gateway.restore(at: now + lead) }

    func receive(_ message: InboundMessage, at now: Instant) {
        guard !isDead else { return }
        inputs += 1
        let answers = gateway.counters.responsesReceived
        gateway.receive(message, at: now + lead)
        if SimulatedForger.sent(message), gateway.counters.responsesReceived != answers { forger.noteBelieved(message) }
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
            isDead = true
            return []
        default:
            _ = gateway.takeLogs()
            let output = gateway.takeOutput()
            for message in output {
                forger.overhear(message)
                sequences.note(message)
            }
            return output
        }
    }
}
