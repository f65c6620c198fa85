import FederationRouting
import PresenceDocuments
import SIPCore

/// State of a dialog that watches a list contained in its SUBSCRIBE (RFC 4662, RFC 5367).
struct ListSubscription {
    /// Request-URI of the SUBSCRIBE; names the list in every notification.
    let uri: String
    /// Key of the list service that the watcher keeps (RFC 4826 4); nil: the list came with the SUBSCRIBE.
    let service: String?
    /// URIs of the list as written by the watcher, by `aorKey`.
    private(set) var written: [String: String]
    /// Version of the next notification: 0 for the first, then incremented by 1 (RFC 4662 5.2).
    private(set) var version: UInt32
    /// Time at which pending changes are notified together; the rate is the server's choice (RFC 4662 4.10).
    private(set) var spacedUntil: Instant?

    init(uri: String, service: String? = nil, written: [String: String], version: UInt32 = 0) {
        self.uri = uri
        self.service = service
        self.written = written
        self.version = version
    }

    /// Adds presentities of a changed list; names of those that are gone stay for the notification of their end.
    mutating func add(_ entries: [ListRequest.Entry]) {
        for entry in entries { written[entry.key] = entry.written }
    }

    /// Counts a notification of the list, and starts its spacing.
    mutating func noteNotified(spacedUntil: Instant) {
        version &+= 1
        self.spacedUntil = spacedUntil
    }

    func written(_ uri: SIPURI) -> String { written[uri.aorKey] ?? uri.description }
}

/// The list contained in a SUBSCRIBE (RFC 5367 4).
struct ListRequest: Equatable {
    struct Entry: Equatable {
        var uri: SIPURI
        var key: String
        var written: String
    }

    /// Each presentity once, in the order of the body, with nested lists flattened (RFC 5367 4.1).
    private(set) var entries: [Entry] = []

    static let tag = "recipient-list-subscribe"
    static let disposition = "recipient-list"
    static let contentType = DocumentMediaType.resourceLists.description

    /// Creates the list of a list service. Entries without presence, such as telephone numbers, are left out.
    /// - Throws: 413 for a list that is too long.
    init(_ members: [String], limit: Int, identities: IdentityTable) throws(Refusal) {
        var known: Set<String> = []
        for written in members {
            guard let uri = SIPURI(written).map({ identities.identity(of: $0).uri }), uri.scheme.hasHost, known.insert(uri.aorKey).inserted
            else { continue }
            guard entries.count < limit else {
                throw Refusal(.requestEntityTooLarge, "RFC 4826 4: the list is longer than is allowed here", errorID: 2012)
            }
            entries.append(Entry(uri: uri.addressOfRecord(), key: uri.aorKey, written: written))
        }
    }

    /// Reads a list.
    /// - Parameter limit: maximum number of presentities.
    /// - Throws: 400 for a list that is empty, unreadable or refers to others, 413 for one that is too long.
    init(_ document: ResourceListsDocument, limit: Int, identities: IdentityTable = IdentityTable()) throws(Refusal) {
        if document.refersElsewhere {
            throw .badRequest("RFC 4826 3.1: external and entry-ref lead to lists elsewhere, which are not fetched here", errorID: 4001)
        }
        var known: Set<String> = []
        for entry in document.entries {
            guard let uri = SIPURI(entry.uri).map({ identities.identity(of: $0).uri }), uri.scheme.hasHost else {
                throw .badRequest("RFC 5367 4: the URI of an entry is not one whose presence can be asked for", errorID: 4001)
            }
            guard known.insert(uri.aorKey).inserted else { continue }
            guard entries.count < limit else {
                throw Refusal(.requestEntityTooLarge, "RFC 5367 4: the list is longer than is allowed here", errorID: 2012)
            }
            entries.append(Entry(uri: uri.addressOfRecord(), key: uri.aorKey, written: entry.uri))
        }
        if entries.isEmpty { throw .badRequest("RFC 5367 4: the list names nobody", errorID: 4001) }
    }
}
