import EnhancedPresence
import PresenceDocuments
import SIPCore

/// A subscription to watcher information: the rows that the subscriber has, and the number of the next document.
final class WatcherInfoSubscription: PackageSubscription {
    static let mediaType = "application/watcherinfo+xml"
    static let presentityDetail = "presentity"
    /// Least time between two notifications of changes (RFC 3857 4.10).
    static let spacing = TimeSpan.seconds(5)

    let presentity: String
    let level: WatcherInfoLevel
    private unowned let information: WatcherInformation
    private let uri: SIPURI
    /// Whether the subscriber is the presentity, which sees all rows; others see their own.
    private let isOwner: Bool
    /// Version of the next document.
    private var version: UInt32
    /// Rows of the last document by id; nil: the next document is full.
    private var known: [String: WatcherInfo]?
    /// Events of rows that ended since the last document.
    private var ended: [String: WatcherInfo.Event] = [:]
    private var isChanged = false
    private var notBefore: Instant?

    init(
        _ information: WatcherInformation, _ level: WatcherInfoLevel, of uri: SIPURI, key: String, isOwner: Bool,
        version: UInt32 = 0
    ) {
        self.information = information
        self.level = level
        self.uri = uri
        presentity = key
        self.isOwner = isOwner
        self.version = version
    }

    var contentType: String { Self.mediaType }
    var allowsBestEffort: Bool { false }
    var isOnlyOfEndpoint: Bool { false }
    func allowsPiggyback(isPoll: Bool) -> Bool { false }
    var documentVersion: UInt32 { version }
    var nextChange: Instant? { isChanged ? notBefore : nil }
    func hasDueChange(at now: Instant) -> Bool { isChanged && notBefore.map { $0 <= now } ?? true }

    // MARK: changes

    /// Notes that rows may have changed.
    func noteChange() { isChanged = true }

    /// Notes the end of a row, which the subscriber may have.
    func noteEnd(of id: String, by event: WatcherInfo.Event) {
        if known?[id] != nil { ended[id] = event }
        isChanged = true
    }

    func skipChanges(at now: Instant) { isChanged = false }

    func dropChanges() {
        isChanged = false
        forgetNotified()
    }

    func forgetNotified() {
        known = nil
        ended = [:]
    }

    func begin(
        _ dialog: WatcherDialog, _ request: SIPRequest, _ parties: RequestScreening.Parties, isPoll: Bool, at now: Instant
    ) -> Bool {
        information.subscribersChanged(of: presentity, level)
        return true
    }

    func end(_ dialog: WatcherDialog, at now: Instant) {
        information.subscriberEnded(dialog.localTag, of: presentity, level)
    }

    func advance(_ dialog: WatcherDialog, at now: Instant) { information.expireWaiting(of: presentity, at: now) }

    // MARK: documents

    func body(
        of dialog: WatcherDialog, naming named: [String]?, isFull: Bool, at now: Instant
    ) -> NotificationBody? {
        let present = information.rows(of: presentity, level, at: now).filter { isOwner || $0.watcher == dialog.identity.address }
        let shown = present.prefix(information.configuration.limits.watcherRows).map(\.info)
        var sent = shown
        let isWhole = isFull || known == nil
        if !isWhole, let known {
            // A row that the limit hides has not ended.
            let ids = Set(present.map(\.info.id))
            let gone = known.values.filter { !ids.contains($0.id) }.sorted { $0.id < $1.id }.map { row in
                var row = row
                (row.status, row.event) = (.terminated, ended[row.id] ?? .timeout)
                return row
            }
            sent = shown.filter { known[$0.id] != $0 } + gone
            guard !sent.isEmpty else { return nil }
        }
        let document = WatcherInfoDocument(
            version: version, isFull: isWhole,
            lists: [WatcherInfoList(resource: presentity, package: level.package, watchers: sent)])
        version &+= 1
        known = Dictionary(shown.map { ($0.id, $0) }) { first, _ in first }
        ended = [:]
        isChanged = false
        notBefore = now + Self.spacing
        return NotificationBody(contentType: contentType, bytes: document.encode())
    }

    // MARK: store

    func store(in stored: inout StoredDialog) {
        stored.listVersion = version
        stored.details[Self.presentityDetail] = uri.description
    }

    /// Watchers may have changed while the node was down: the subscriber gets all of them.
    func isBehind(_ dialog: WatcherDialog, isUnsettled: Bool, at now: Instant) -> Bool { true }
}
