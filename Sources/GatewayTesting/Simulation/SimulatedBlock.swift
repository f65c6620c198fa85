import ScriptedPeers
import SIPCore

/// Polite block of one watcher by a hosted user with an endpoint: container 32000 shows it an offline user (MS-PRES 4.4.2).
///
///     publications of container 32000 --200--> membership --200--> acknowledged
///             ^   |                             ^   |
///             +---+ refused or not answered     +---+
final class SimulatedBlock {
    private enum Phase {
        case idle
        case publishing
        /// - Parameter version: version of the container as far as the endpoint knows.
        case addingMember(version: UInt32, isSent: Bool)
        case acknowledged
    }

    let presentity: SimulatedPresentity
    let watcher: String
    private let publisher: CategoryPublisher
    private var phase = Phase.idle

    /// nil: the presentity has no endpoint, or is not hosted at the gateway.
    init?(of watcher: String, by presentity: SimulatedPresentity) {
        guard presentity.isHosted, case .endpoint(let publisher) = presentity.home else { return nil }
        self.presentity = presentity
        self.watcher = watcher
        self.publisher = publisher
    }

    var isAcknowledged: Bool { if case .acknowledged = phase { true } else { false } }

    /// Sends the next request when the previous one is answered.
    func pursue(at now: Instant) {
        guard publisher.awaited == 0 else { return }
        switch phase {
        case .idle where presentity.isTaken:
            phase = .publishing
            publisher.publish(Self.offline, at: now)
        case .publishing:
            guard publisher.lastAnswer?.status?.isSuccess == true else {
                phase = .idle
                return
            }
            phase = .addingMember(version: 0, isSent: false)
            pursue(at: now)
        case .addingMember(let version, isSent: false):
            phase = .addingMember(version: version, isSent: true)
            presentity.blocking.insert(watcher)
            publisher.setMembers(container: 32_000, version: version, adding: [watcher], at: now)
        case .addingMember(var version, isSent: true):
            guard let answer = publisher.lastMembersAnswer else { return }
            if answer.status?.isSuccess == true {
                phase = .acknowledged
                presentity.blocked[watcher] = presentity.number
            } else {
                // An earlier request of unknown outcome was carried out.
                if answer.status == .conflict { version += 1 }
                phase = .addingMember(version: version, isSent: false)
            }
        case .idle, .acknowledged: break
        }
    }

    /// Static presence of an offline user for container 32000.
    static let offline: [CategoryPublisher.Publication] = [
        .init("state", instance: 0, container: 32_000, expireType: "static", body: EnhancedDocuments.aggregateState(18_500)),
        .init(
            "note", instance: 0, container: 32_000, expireType: "static",
            body: "<note xmlns=\"http://schemas.microsoft.com/2006/09/sip/note\"/>"),
        .init(
            "legacyInterop", instance: 1, container: 32_000, expireType: "static",
            body: "<legacyInterop xmlns=\"http://schemas.microsoft.com/2006/09/sip/categories\" availability=\"18500\"/>"),
    ]
}
