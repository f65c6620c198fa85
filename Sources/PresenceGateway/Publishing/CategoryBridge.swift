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
///     PUBLISH --> entity-tags, documents --instances of its own for each--> SERVICE --> home server
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

    /// One publication: its document, and the instances that are made from it.
    struct Source {
        /// The first entity-tag of the publication; the numbers of its instances are derived from it.
        var lineage: String
        var document: [UInt8]
        var elements: [PublicationID: XMLFragment]
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
        return [ofClient, lapse, current?.held.until, queue.map(\.until).min()].compactMap(\.self).min()
    }

    /// What the home server is to hold for these sources.
    /// - Parameter atLeast: seconds to ask for, so that short lives here are not as many requests there.
    func wishes(of sources: [String: Source], atLeast: Int, at now: Instant) -> [PublicationID: CategoryPublicationClient.Wish] {
        var wishes: [PublicationID: CategoryPublicationClient.Wish] = [:]
        for source in sources.values {
            let life = max((source.until - now).seconds + Self.margin, atLeast)
            for (id, body) in source.elements {
                wishes[id] = CategoryPublicationClient.Wish(
                    body: body, expires: UInt32(clamping: life), until: DateTime(source.until))
            }
        }
        return wishes
    }

    /// Seconds by which an instance outlives its source, so that it is taken back and not just over.
    private static let margin = 60
}

/// The numbers of the instances of one publication (MS-PRES 1.3.1.1): the same over refreshes and restarts, and not those that clients
/// of the same user choose.
struct InstanceNumbers {
    private let hash: UInt32

    /// - Parameters:
    ///   - endpoint: the gateway's own, so that two gateways of one user do not meet.
    ///   - lineage: of the publication, so that two publications do not.
    init(endpoint: String, user: String, lineage: String) {
        hash = FNV1a32.hash("\(endpoint) \(user) \(lineage)".utf8)
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
