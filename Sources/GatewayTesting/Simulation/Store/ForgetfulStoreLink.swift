import PresenceGateway
import SIPCore

/// Path to a store without the rule ``SimulatedRule/readAfterUnknownOutcome``: a commit that was reported as failed counts as not stored.
///
/// Reads are answered from the commits that were reported as stored, and changes that would restore that state are not carried out again.
final class ForgetfulStoreLink: StoreLink {
    var receiver: ((StoreResult, Instant) -> Void)?
    private let link: any StoreLink
    private let network: SimulatedNetwork
    /// Records by the commits that were reported as stored.
    private var believed: [StoreKey: StoreRecord]
    /// Commits without a result, oldest first.
    private var pending: [(number: UInt64, changes: [StoreChange])] = []
    private var isEnded = false

    /// - Parameter records: stored records at the start of the process.
    init(_ link: any StoreLink, on network: SimulatedNetwork, _ records: [StoreKey: StoreRecord]) {
        self.link = link
        self.network = network
        believed = records
        link.receiver = { [weak self] result, now in self?.receive(result, at: now) }
    }

    func send(_ request: StoreRequest) {
        switch request {
        case .commit(let number, let predecessor, let changes):
            let needed = changes.filter { isPending($0.key) || !isBelieved($0) }
            pending.append((number, changes))
            link.send(.commit(number: number, after: predecessor, needed))
        case .read(let number, let keys):
            network.schedule(at: network.now + .milliseconds(1)) { [self] now in
                if !isEnded { receiver?(.read(number: number, .success(keys.compactMap { believed[$0] })), now) }
            }
        }
    }

    func end() {
        isEnded = true
        link.end()
    }

    private func receive(_ result: StoreResult, at now: Instant) {
        if let first = pending.first {
            switch result {
            case .committed(first.number):
                for change in first.changes {
                    switch change {
                    case .put(let record): believed[record.key] = record
                    case .remove(let key): believed[key] = nil
                    case .clock: break
                    }
                }
                pending.removeFirst()
            case .failed(first.number, _): pending.removeFirst()
            default: break
            }
        }
        receiver?(result, now)
    }

    private func isPending(_ key: StoreKey?) -> Bool { pending.contains { $0.changes.contains { $0.key == key } } }

    private func isBelieved(_ change: StoreChange) -> Bool {
        switch change {
        case .put(let record): believed[record.key] == record
        case .remove(let key): believed[key] == nil
        case .clock: false
        }
    }
}

extension StoreChange {
    /// Key of the changed record; nil: the clock.
    fileprivate var key: StoreKey? {
        switch self {
        case .put(let record): record.key
        case .remove(let key): key
        case .clock: nil
        }
    }
}
