import FederationRouting
import SIPCore

/// The route of an outgoing request.
enum RequestRoute: Equatable {
    /// A known connection or address; `own` is the gateway's host and port in Via and Contact.
    case direct(Destination, TransportProtocol, own: TransactionLayer.HostPort)
    /// One of the servers located for this hop target.
    case located(HopTarget)

    /// The expected transport, for header fields that are written before it is known.
    var transport: TransportProtocol {
        switch self {
        case .direct(_, let transport, _): transport
        case .located(let hopTarget): NextHop.located(hopTarget).transport
        }
    }
}

/// A request on its way to the first server that accepts it (RFC 3263 4.3). Each attempt is a transaction of its own; the sender sees the
/// last one only.
final class Delivery {
    let request: SIPRequest
    let origin: RequestOrigin
    /// Whether it gets a response; a BENOTIFY gets none.
    let isAnswered: Bool
    let hopTarget: HopTarget
    /// Targets left if the present one fails.
    private(set) var targets: ArraySlice<TransportAddress> = []
    /// The present target.
    private(set) var target: TransportAddress?
    /// Deadline of all attempts together: the duration of one transaction (Timer F).
    private(set) var end: Instant

    init(_ request: SIPRequest, for origin: RequestOrigin, isAnswered: Bool, hopTarget: HopTarget, at now: Instant) {
        self.request = request
        self.origin = origin
        self.isAnswered = isAnswered
        self.hopTarget = hopTarget
        end = now
    }

    /// Sets the targets to try, and the deadline.
    func begin(_ targets: ArraySlice<TransportAddress>, until end: Instant) {
        self.targets = targets
        self.end = end
    }

    /// Moves on to the next target; nil: none is left, the present one stays.
    func nextTarget() -> TransportAddress? {
        guard let next = targets.popFirst() else { return nil }
        target = next
        return next
    }
}

/// Settings of name lookup and server selection.
package struct NamingConfiguration: Hashable, Sendable {
    /// Limits of the cache of DNS answers.
    package var cache = NameCache.Bounds()
    /// Pauses and limits for servers that failed.
    package var health = TargetHealth.Policy()
    /// Whether IPv6 addresses are tried before IPv4 addresses.
    package var prefersIPv6 = false
    /// Most servers that one request tries.
    package var targetsPerRequest = 4
    /// Longest wait for a connection to a server, TLS included, while another server is left.
    package var connectPatience: TimeSpan = .seconds(2)
    /// Longest wait of a request for DNS answers.
    package var wait: TimeSpan = .seconds(10)
    /// Most requests that wait for DNS; further ones fail at once.
    package var waiting = 10_000
    /// Most requests that wait for one hop target, so that a partner with broken names does not block others.
    package var waitingPerTarget = 1_000
    /// Most hop targets with known servers; when full, the hop target that expires first is removed.
    package var hopTargets = 10_000
    /// Time after expiry for which the last servers are used while DNS fails.
    package var staleness: TimeSpan = .seconds(3_600)
    /// Pause before another lookup after a DNS outage, for expired servers and for results with unanswered questions.
    package var outagePause: TimeSpan = .seconds(30)

    /// Creates the default settings: 4 servers per request, 2 s per connection, 10 s for DNS, 10,000 waiting requests and hop targets.
    package init() {}
}
