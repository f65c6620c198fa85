import PresenceGateway
import SIPCore

/// Path to a store without the rule ``SimulatedRule/commitBeforeAnswer``: reports commits as stored at once, before they are carried out,
/// and whether or not they ever are.
final class HastyStoreLink: StoreLink {
    var receiver: ((StoreResult, Instant) -> Void)?
    private let link: any StoreLink
    private let network: SimulatedNetwork

    init(_ link: any StoreLink, on network: SimulatedNetwork) {
        self.link = link
        self.network = network
        link.receiver = { [weak self] result, now in
            if case .read = result { self?.receiver?(result, now) }
        }
    }

    func send(_ request: StoreRequest) {
        guard case .commit(let number, _, let changes) = request else { return link.send(request) }
        // A lost commit must not make all later ones fail.
        link.send(.commit(number: number, after: nil, changes))
        receiver?(.committed(number: number), network.now)
    }

    func end() { link.end() }
}
