import PresenceGateway
import SIPCore
import Testing
import UserDirectory

/// A small seeded generator (SplitMix64).
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[Int.random(in: 0..<elements.count, using: &self)] }
    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
}

/// A gateway in virtual time with actors around it, each with an address, numbers and chance of its own, so that what one of them
/// does never shifts what another one writes.
final class BlockedRig {
    static let start = Instant(secondsSince1970: 1_700_000_000)

    /// The shards of the node.
    private var gateways: [Gateway] = []
    private var router: ShardRouter
    private(set) var now = BlockedRig.start
    private let store: MemoryStore?
    private var configuration = Bench.configuration()
    /// Presence rules by user, which each process gets before it restores anything.
    private var documents: [String: UserDocuments] = [:]
    private var restarts: UInt64 = 0
    private var events: [(at: Instant, order: Int, act: () -> Void)] = []
    private var order = 0
    private var receivers: [TransportAddress: (SIPMessage) -> Void] = [:]

    init(shards: Int, isKept: Bool, directory: DirectoryState, _ change: (inout GatewayConfiguration) -> Void) {
        change(&configuration)
        configuration.trust(Bench.oneNetwork)
        store = isKept ? MemoryStore() : nil
        router = ShardRouter(shards: shards, for: configuration)
        start(shards, directory)
    }

    private func start(_ shards: Int, _ directory: DirectoryState) {
        gateways = (0..<shards).map {
            Gateway(
                configuration: configuration, shard: $0, shards: shards, key: .seeded(7 + restarts + UInt64($0) << 32), store: store,
                directory: directory)
        }
        for gateway in gateways { for (user, documents) in documents { gateway.use(documents, of: "sip:\(user)", at: now) } }
    }

    func join(_ address: TransportAddress, _ receive: @escaping (SIPMessage) -> Void) { receivers[address] = receive }

    /// Does something so many milliseconds after the start; what was asked for first goes first.
    func at(_ milliseconds: Int, _ act: @escaping () -> Void) {
        after(Self.start + .milliseconds(milliseconds) - now, act)
    }

    func after(_ span: TimeSpan, _ act: @escaping () -> Void) {
        order += 1
        let event = (at: now + span, order: order, act: act)
        let place = events.firstIndex { ($0.at, $0.order) > (event.at, event.order) } ?? events.endIndex
        events.insert(event, at: place)
    }

    func send(_ text: String, from address: TransportAddress, connection: ConnectionID? = nil) {
        give(text, from: address, connection: connection)
        deliver()
    }

    /// Gives the gateway a message whose tick goes on.
    func give(_ text: String, from address: TransportAddress, connection: ConnectionID? = nil) {
        let local = address.transport == .udp ? Bench.local : Bench.localTCP
        var message = InboundMessage(bytes: Array(text.utf8), local: local, remote: address, connection: connection)
        gateways[router.shard(of: &message)].receive(message, at: now)
    }

    func close(_ connection: ConnectionID) {
        for gateway in gateways { gateway.receive(.closed(connection), at: now) }
        deliver()
    }

    func use(_ directory: DirectoryState) {
        for gateway in gateways { gateway.use(directory: directory, at: now) }
        deliver()
    }

    /// Gives the gateway the presence rules of a user.
    func use(_ documents: UserDocuments, of user: String) {
        self.documents[user] = documents
        for gateway in gateways { gateway.use(documents, of: "sip:\(user)", at: now) }
        deliver()
    }

    /// Changes what concerns no watcher, and reads all of the configuration anew.
    func reload() {
        configuration.domains["reloaded.example.net"] = .refused(403)
        for gateway in gateways { gateway.reconfigure(configuration, at: now) }
        deliver()
    }

    /// The process ends, and the next one starts on what the store has.
    func restart() {
        restarts += 1
        start(gateways.count, gateways[0].directoryState)
        for gateway in gateways { #expect(throws: Never.self) { try gateway.restore(slice: 512, at: now) } }
        deliver()
    }

    func run(milliseconds: Int) {
        let end = Self.start + .milliseconds(milliseconds)
        while true {
            let due = gateways.compactMap(\.nextDeadline).min() ?? end
            if let event = events.first, event.at <= due, event.at <= end {
                now = max(now, event.at)
                events.removeFirst()
                event.act()
            } else if due < end {
                now = max(now, due)
                for gateway in gateways where gateway.nextDeadline.map({ $0 <= now }) == true { gateway.advance(to: now) }
                deliver()
            } else {
                break
            }
        }
        now = end
    }

    /// Delivers what the shards send, and carries the envelopes of each pair of shards after a constant delay.
    private func deliver() {
        for gateway in gateways { deliver(gateway.takeOutput()) }
        let process = restarts
        for (index, gateway) in gateways.enumerated() {
            let envelopes = gateway.takeEnvelopes()
            for target in gateways.indices where envelopes.contains(where: { $0.target == target }) {
                after(Self.delay(from: index, to: target)) { [unowned self] in
                    guard process == restarts else { return }
                    for envelope in envelopes where envelope.target == target { gateways[target].receive(envelope, at: now) }
                    deliver()
                }
            }
        }
    }

    /// Delay of envelopes: no multiple of a millisecond, so that they arrive between the actions.
    private static func delay(from source: Int, to target: Int) -> TimeSpan {
        TimeSpan(nanoseconds: Int64(1_300_000 + 410_000 * source + 170_000 * target))
    }

    private func deliver(_ output: [OutboundMessage]) {
        for outbound in output {
            guard case .success(let message) = SIPParser.parse(outbound.bytes) else {
                Issue.record("the gateway wrote a message that cannot be read")
                continue
            }
            switch outbound.destination {
            case .address(let address, _): receivers[address]?(message)
            case .connection(_, let fallback): fallback.map { receivers[$0]?(message) }
            }
        }
    }
}
