import SIPCore

/// Place where a conversation is played: the simulated network, or loopback sockets.
///
/// Scripts access their peers only inside `act` and the condition of `wait`, so that they are correct on both.
package protocol Stage: AnyObject {
    var seed: UInt64 { get }
    /// Returns an address for a station, free for both UDP and TCP.
    func place(_ name: String, _ transport: TransportProtocol) throws -> TransportAddress
    /// Attaches an endpoint to an address from `place`; it listens on UDP and TCP there.
    func attach(_ endpoint: any SansIOEndpoint, name: String, at address: TransportAddress) async throws
    /// Runs an action of the script; its peers send their output afterwards.
    func act(_ body: (Instant) -> Void) async throws
    /// Waits until the condition holds, for at most the span; returns whether it held.
    func wait(atMost span: TimeSpan, until condition: () -> Bool) async throws -> Bool
    /// Lets a span of virtual time pass.
    func pass(_ span: TimeSpan) async throws
    /// Transcript so far, for a failure report.
    var account: String { get }
    func finish() async
}

/// Stage on the simulated network, with virtual time.
package final class SimulatedStage: Stage {
    /// Seed of the network and of all identifiers.
    package let seed: UInt64
    /// Network of the stage.
    package let network: SimulatedNetwork
    private var lastHost = 0

    /// Creates a stage; its transcript keeps 4,000 entries.
    package init(seed: UInt64, conditions: NetworkConditions = .perfect) {
        self.seed = seed
        network = SimulatedNetwork(seed: seed, conditions: conditions, transcriptLimit: 4000)
    }

    /// Returns the next address of 192.0.2.0/24 and following networks, with port 5060.
    package func place(_ name: String, _ transport: TransportProtocol) -> TransportAddress {
        lastHost += 1
        return TransportAddress(transport, "192.0.\(2 + lastHost / 250).\(lastHost % 250 + 1)", 5060)
    }

    /// Attaches an endpoint for UDP and TCP.
    package func attach(_ endpoint: any SansIOEndpoint, name: String, at address: TransportAddress) {
        let addresses = [TransportProtocol.udp, .tcp].map { TransportAddress($0, address.host, address.port) }
        // The first address is the source of requests.
        network.attach(endpoint, name: name, at: addresses.sorted { one, _ in one.transport == address.transport })
    }

    /// Runs the action at the current virtual time.
    package func act(_ body: (Instant) -> Void) { body(network.now) }

    /// Advances virtual time until the condition holds, for at most the span; returns whether it held.
    package func wait(atMost span: TimeSpan, until condition: () -> Bool) throws -> Bool {
        try network.run(atMost: span, until: condition)
    }

    /// Advances virtual time by the span.
    package func pass(_ span: TimeSpan) throws { try network.run(for: span) }

    /// Transcript with one line for each event.
    package var account: String { network.transcript.ladder }

    /// Does nothing.
    package func finish() {}
}
