import ByteCoding
import EnhancedPresence
import PresenceDocuments
import PresenceMapping
import SIPCore
import SIPEvents
import XMLCore

/// F3: what standard clients of an identity of an enterprise domain publish by PUBLISH (RFC 3903 6), carried to that domain as category
/// publications (MS-PRES 3.2.4) under this gateway's endpoint.
///
///     PUBLISH --> entity-tags, documents --one composition, instances of its own--> SERVICE --> home server
///         200 <-- once the home server took all of it
///     503, 504 <-- it did not: the entity-tag and what it stands for are as before
///
/// One PUBLISH is worked on at a time, since each may need the entity-tag of the one before; the others wait their turn.
final class CategoryBridge {
    let key: String
    let uri: SIPURI
    var table: PublicationTable
    /// By entity-tag.
    var sources: [String: Source] = [:]
    var client: CategoryPublicationClient
    var queue: [Held] = []
    var current: Change?
    /// Tells the answer to the newest request from those to earlier ones.
    var attempt: UInt64 = 0
    var passage = BridgePassage()
    /// Next time at which an element of the composed document begins or ends by itself; nil: none does.
    var nextTimedMoment: Instant?
    /// Whether the home server has shown a state of its own in a container for watchers (MS-PRES 3.8.5.1.2.7).
    var homeComputesState = false

    /// One publication.
    struct Source {
        /// Grows with every body: where two publications differ, the newest counts.
        var number: UInt64
        var arrived: Instant
        var document: [UInt8]
        /// nil: it cannot be read under the limits of now, so nothing of it is shown.
        var presence: PIDFDocument?
        var until: Instant
    }

    struct Held {
        var request: SIPRequest
        var transaction: ServerTransactionID?
        var until: Instant
    }

    /// What a PUBLISH makes of the tables, once the home server agrees.
    struct Change {
        var held: Held
        var table: PublicationTable
        var sources: [String: Source]
        var tag: EntityTag
        var expires: Int
    }

    /// PUBLISH requests of one identity that wait at the same time; beyond it 503.
    static let queueLimit = 32

    init(key: String, uri: SIPURI, table: PublicationTable, client: CategoryPublicationClient) {
        self.key = key
        self.uri = uri
        self.table = table
        self.client = client
    }

    /// Whether nothing is published, and nothing is left to be taken back.
    var isIdle: Bool { sources.isEmpty && queue.isEmpty && current == nil && client.isIdle }

    var nextDeadline: Instant? {
        let ofClient = client.nextDeadline.map { Instant($0) }
        // A lapse waits for the request that is being worked on.
        let lapse = current == nil ? table.nextDeadline : nil
        return [ofClient, lapse, nextTimedMoment, current?.held.until, queue.map(\.until).min()].compactMap(\.self).min()
    }

    /// Instances for the home server, with the lifetime of the longest-lived source.
    /// - Parameter atLeast: seconds to ask for, so that short lives here are not as many requests there.
    func wishes(
        _ elements: [PublicationID: XMLFragment], of sources: [String: Source], atLeast: Int, at now: Instant
    ) -> [PublicationID: CategoryPublicationClient.Wish] {
        guard let until = sources.values.map(\.until).max() else { return [:] }
        let life = max((until - now).seconds + Self.margin, atLeast)
        return elements.mapValues { CategoryPublicationClient.Wish(body: $0, expires: UInt32(clamping: life), until: DateTime(until)) }
    }

    /// Seconds by which an instance outlives its source, so that it is taken back and not just over.
    private static let margin = 60
}

/// The numbers of the instances of one identity (MS-PRES 1.3.1.1): the same over changes, refreshes and restarts, and not those that clients
/// of the same user choose.
struct InstanceNumbers {
    private let hash: UInt32

    /// - Parameter endpoint: The gateway's own endpoint, so that two gateways of one user use different numbers.
    init(endpoint: String, user: String) {
        hash = FNV1a32.hash("\(endpoint) \(user)".utf8)
    }

    func instance(of category: CategoryName) -> UInt32 {
        switch category {
        // Clients keep their states apart by the first digit.
        case .state: 0x2000_0000 | hash >> 4 | 1
        // The first two bits say how free/busy times are written: 00, two bits per slot (MS-PRES 2.2.2.7.8).
        case .calendarData: hash >> 2 | 1
        // 0 is the server's, or the user's own.
        default: hash | 1
        }
    }
}
