import ByteCoding
import EnhancedPresence
import PresenceDocuments
import PresenceMapping
import SIPCore
import SIPEvents
import XMLCore

/// Relays what standard clients of a user of an enterprise domain publish with PUBLISH (RFC 3903 6) to that domain as category
/// publications (MS-PRES 3.2.4) of this gateway's endpoint.
///
///     PUBLISH --> entity-tags, documents --composed into own instances--> SERVICE --> home server
///         200 <-- the home server accepted all instances
///     503, 504 <-- otherwise: the entity-tag and its document are unchanged
///
/// One PUBLISH is processed at a time, since each may need the entity-tag of the previous one; the others are queued.
final class CategoryBridge {
    let key: String
    let uri: SIPURI
    /// Names the bridge to the kernel; nil: it has no timer and sent no request.
    var ticket: Ticket?
    var table: PublicationTable
    /// Publications by entity-tag.
    var sources: [String: Source] = [:]
    var client: CategoryPublicationClient
    var queue: [Held] = []
    var current: Change?
    /// Number of the newest request; responses to earlier ones are ignored.
    var attempt: UInt64 = 0
    var dialogContext = DialogContext()
    /// Next time at which an element of the composed document begins or ends; nil: none does.
    var nextTimedMoment: Instant?
    /// Whether the home server returned a state of its own in a container for watchers (MS-PRES 3.8.5.1.2.7).
    var homeComputesState = false

    /// One publication.
    struct Source {
        /// Sequence number of the body; in a conflict the newest publication wins.
        var number: UInt64
        var arrived: Instant
        var document: [UInt8]
        /// The parsed document; nil: unreadable under the current limits, so nothing of it is shown.
        var presence: PIDFDocument?
        var until: Instant
    }

    struct Held {
        var request: SIPRequest
        var transaction: ServerTransactionID?
        var until: Instant
    }

    /// The tables after a PUBLISH, applied once the home server accepts.
    struct Change {
        var held: Held
        var table: PublicationTable
        var sources: [String: Source]
        var tag: EntityTag
        var expires: Int
    }

    /// Maximum number of queued PUBLISH requests of one user; more are refused with 503.
    static let queueLimit = 32

    init(key: String, uri: SIPURI, table: PublicationTable, client: CategoryPublicationClient) {
        self.key = key
        self.uri = uri
        self.table = table
        self.client = client
    }

    /// Whether nothing is published, and nothing remains to be removed at the home server.
    var isIdle: Bool { sources.isEmpty && queue.isEmpty && current == nil && client.isIdle }

    var nextDeadline: Instant? {
        let ofClient = client.nextDeadline.map { Instant($0) }
        // Expired publications are processed after the current request.
        let lapse = current == nil ? table.nextDeadline : nil
        return [ofClient, lapse, nextTimedMoment, current?.held.until, queue.map(\.until).min()].compactMap(\.self).min()
    }

    /// Instances for the home server, with the remaining lifetime of the longest-lived source.
    /// - Parameter atLeast: minimum lifetime in seconds, so that short lifetimes do not cause frequent requests.
    func requestedPublications(
        _ elements: [PublicationID: XMLFragment], of sources: [String: Source], atLeast: Int, at now: Instant
    ) -> [PublicationID: CategoryPublicationClient.RequestedPublication] {
        guard let until = sources.values.map(\.until).max() else { return [:] }
        let life = max((until - now).seconds + Self.margin, atLeast)
        return elements.mapValues {
            CategoryPublicationClient.RequestedPublication(body: $0, expires: UInt32(clamping: life), until: DateTime(until))
        }
    }

    /// Seconds by which an instance outlives its source, so that it is removed explicitly rather than by expiry.
    private static let margin = 60
}

/// Instance numbers of one user (MS-PRES 1.3.1.1): stable over changes, refreshes and restarts, and different from those of the user's
/// clients.
struct InstanceNumbers {
    private let hash: UInt32

    /// Creates the numbers.
    /// - Parameter endpoint: the gateway's own endpoint, so that two gateways of one user use different numbers.
    init(endpoint: String, user: String) {
        hash = FNV1a32.hash("\(endpoint) \(user)".utf8)
    }

    func instance(of category: CategoryName) -> UInt32 {
        switch category {
        // Clients distinguish states by the first digit.
        case .state: 0x2000_0000 | hash >> 4 | 1
        // The first two bits encode the free/busy format: 00 for two bits per slot (MS-PRES 2.2.2.7.8).
        case .calendarData: hash >> 2 | 1
        // 0 is used by the server or by the user's clients.
        default: hash | 1
        }
    }
}
