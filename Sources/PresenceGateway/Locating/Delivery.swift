import FederationRouting
import SIPCore

/// By which way a request of ours leaves.
enum Way {
    /// Over a connection or to an address that is known.
    /// - own: this node's address in Via and Contact.
    case direct(Destination, TransportProtocol, own: TransactionLayer.HostPort)
    /// To one of the servers that are found for this goal.
    case located(HopGoal)

    /// The transport that is expected, for what has to be written before it is known.
    var transport: TransportProtocol {
        switch self {
        case .direct(_, let transport, _): transport
        case .located(let goal): NextHop.located(goal).transport
        }
    }
}

/// One request that is on its way to the first server that takes it (RFC 3263 4.3). Each try is a transaction of its own; whoever wanted
/// the request sent hears of the last one only.
final class Delivery {
    enum Purpose {
        case answered(Gateway.Awaiting)
        /// A BENOTIFY, of the dialog with this tag of ours: nobody hears whether it arrived.
        case unanswered(tag: String)
    }

    let request: SIPRequest
    let purpose: Purpose
    let goal: HopGoal
    /// Where it goes if the present target fails.
    var targets: ArraySlice<TransportAddress> = []
    /// Where it went last.
    var target: TransportAddress?
    /// All tries together take no longer than one transaction would (timer F).
    var end: Instant

    init(_ request: SIPRequest, for purpose: Purpose, goal: HopGoal, at now: Instant) {
        self.request = request
        self.purpose = purpose
        self.goal = goal
        end = now
    }
}

/// How names are looked up and servers chosen.
public struct NamingConfiguration: Hashable, Sendable {
    public var cache = NameCache.Bounds()
    public var health = TargetHealth.Policy()
    /// IPv6 addresses are tried before those of IPv4.
    public var prefersIPv6 = false
    /// Servers that one request tries.
    public var targetsPerRequest = 4
    /// How long a request waits for a connection to one server, TLS included, while there is another.
    public var connectPatience: TimeSpan = .seconds(2)
    /// How long a request waits for the answers of the Domain Name System.
    public var wait: TimeSpan = .seconds(10)
    /// Requests that wait; beyond it they fail at once.
    public var waiting = 10_000
    /// Of these, requests that wait for one goal, so that one partner's broken names do not stop the others.
    public var waitingPerGoal = 1_000
    /// Goals whose servers are known; the one that ends first makes room.
    public var goals = 10_000
    /// While no DNS server answers, the servers that were known last are used for that long.
    public var staleness: TimeSpan = .seconds(3_600)
    /// For how long that, or what was found in spite of questions that nobody answered, is not looked up again.
    public var outagePause: TimeSpan = .seconds(30)

    public init() {}
}
