import FederationRouting
import SIPCore

/// On whose behalf a domain is asked: what all far legs of one watcher to it have in common.
struct UpstreamOrder {
    let watcher: SIPURI
    let network: SourceNetwork
    let domain: UpstreamDomain
    let maxForwards: Int
    /// The hop marks that came with the watcher's SUBSCRIBE, without our own.
    let hopMarks: String
    /// The tag of the dialog that polls; what is asked once is shared with nobody (RFC 6665 4.4.3).
    let poll: String?
}

/// Where presentities are asked for.
enum UpstreamTarget: Hashable {
    /// By a single subscription to its own URI.
    case presentity(SIPURI)
    /// By a batch at the pool with this URI: a server GRUU (MS-SIPRE 2.2.3), or the domain itself.
    case pool(SIPURI)
    /// By a subscription to the list with this URI (RFC 4662), or at the service that takes one (RFC 5367).
    case list(SIPURI)

    var uri: SIPURI {
        switch self {
        case .presentity(let uri), .pool(let uri), .list(let uri): uri
        }
    }

    /// The pool that an answer names; nil: it names none that could be asked (MS-PRES 3.4.5.1.3.1).
    init?(poolFqdn: String?) {
        guard let poolFqdn, poolFqdn.utf8.count <= 512, let uri = SIPURI(poolFqdn), uri.scheme == .sip || uri.scheme == .sips else {
            return nil
        }
        self = .pool(uri)
    }
}

/// What makes two batches one dialog: the watcher, where it counts as coming from, and the pool (MS-PRES 3.4.5.1.3.1).
struct UpstreamBatchKey: Hashable {
    let watcher: String
    let network: SourceNetwork
    let domain: String
    /// Users with hops of their own are not mixed with others.
    let hop: NextHop
    let pool: SIPURI
    /// Requests that came another way are not mixed, or loops would not be seen.
    let hopMarks: String
    /// The same where somebody on the way removes the marks: what went round has fewer forwards left than the leg that it came from.
    let maxForwards: Int
    let poll: String?

    init(_ order: UpstreamOrder, pool: SIPURI) {
        watcher = order.watcher.aorKey
        network = order.network
        domain = order.domain.name
        hop = order.domain.hop
        self.pool = pool
        hopMarks = order.hopMarks
        maxForwards = order.maxForwards
        poll = order.poll
    }
}
