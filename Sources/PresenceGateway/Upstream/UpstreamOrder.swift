import FederationRouting
import SIPCore

/// Properties that all upstream subscriptions of one watcher to a domain share.
struct UpstreamOrder {
    let watcher: SIPURI
    let network: DomainNetwork
    let domain: UpstreamDomain
    let maxForwards: Int
    /// Hop marks of the watcher's SUBSCRIBE, without our own.
    let hopMarks: String
    /// Tag of the dialog that polls; nil: no poll. The subscription of a poll is not shared (RFC 6665 4.4.3).
    let poll: String?
}

/// Address of an upstream subscription.
enum UpstreamTarget: Hashable {
    /// A single subscription to the presentity's own URI.
    case presentity(SIPURI)
    /// A batch at the pool with this URI: a server GRUU (MS-SIPRE 2.2.3), or the domain itself.
    case pool(SIPURI)
    /// A subscription to the list with this URI (RFC 4662), or at the service that expands a list (RFC 5367).
    case list(SIPURI)

    var uri: SIPURI {
        switch self {
        case .presentity(let uri), .pool(let uri), .list(let uri): uri
        }
    }

    var shape: UpstreamSubscription.Shape {
        switch self {
        case .presentity: .single
        case .pool: .batch
        case .list: .list
        }
    }

    /// The pool that a resource list names; nil: no usable URI (MS-PRES 3.4.5.1.3.1).
    init?(poolFqdn: String?) {
        guard let poolFqdn, poolFqdn.utf8.count <= 512, let uri = SIPURI(poolFqdn), uri.scheme == .sip || uri.scheme == .sips else {
            return nil
        }
        self = .pool(uri)
    }
}

/// Key of batches that can share a dialog: the watcher, its network, and the pool (MS-PRES 3.4.5.1.3.1).
struct UpstreamBatchKey: Hashable {
    let watcher: String
    let network: DomainNetwork
    let domain: String
    /// Keeps users with next hops of their own apart.
    let hop: NextHop
    let pool: SIPURI
    /// Keeps requests with different hop marks apart, because loop detection depends on them.
    let hopMarks: String
    /// Detects loops where the hop marks are removed: a request that returns has a lower Max-Forwards.
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
