import SIPCore

/// Where a conversation is played: on the simulated network, or on loopback sockets.
///
/// A script touches its peers only inside `act` and inside the condition of `wait`, so that the same script is right on both.
public protocol Stage: AnyObject {
    var seed: UInt64 { get }
    /// An address for a station, free for both UDP and TCP.
    func place(_ name: String, _ transport: TransportProtocol) throws -> TransportAddress
    /// Puts an endpoint where `place` said; it listens on UDP and TCP there.
    func attach(_ endpoint: any SansIOEndpoint, name: String, at address: TransportAddress) async throws
    /// Lets a script call its peers; what they want to send leaves afterwards.
    func act(_ body: (Instant) -> Void) async throws
    /// Goes on until the condition holds, at most for the span; says whether it held.
    func wait(atMost span: TimeSpan, until condition: () -> Bool) async throws -> Bool
    /// Lets the span pass; only where time is virtual.
    func pass(_ span: TimeSpan) async throws
    /// What happened so far, for the report of a failure.
    var account: String { get }
    func finish() async
}

/// The stage of virtual time.
public final class SimulatedStage: Stage {
    public let seed: UInt64
    public let network: SimulatedNetwork
    private var lastHost = 0

    public init(seed: UInt64, conditions: NetworkConditions = .perfect) {
        self.seed = seed
        network = SimulatedNetwork(seed: seed, conditions: conditions, transcriptLimit: 4000)
    }

    public func place(_ name: String, _ transport: TransportProtocol) -> TransportAddress {
        lastHost += 1
        return TransportAddress(transport, "192.0.\(2 + lastHost / 250).\(lastHost % 250 + 1)", 5060)
    }

    public func attach(_ endpoint: any SansIOEndpoint, name: String, at address: TransportAddress) {
        let addresses = [TransportProtocol.udp, .tcp].map { TransportAddress($0, address.host, address.port) }
        // Its own transport first: that is where it speaks from.
        network.attach(endpoint, name: name, at: addresses.sorted { one, _ in one.transport == address.transport })
    }

    public func act(_ body: (Instant) -> Void) { body(network.now) }

    public func wait(atMost span: TimeSpan, until condition: () -> Bool) throws -> Bool {
        try network.run(atMost: span, until: condition)
    }

    public func pass(_ span: TimeSpan) throws { try network.run(for: span) }

    public var account: String { network.transcript.ladder }

    public func finish() {}
}
