import PresenceDocuments
import SIPCore
import SIPEvents

/// One thing that was refused, lost or ended lately, with the rule that decided it.
public struct JournalEntry: Codable, Hashable, Sendable {
    public enum Event: String, Codable, Hashable, Sendable {
        /// This gateway refused a request.
        case refused
        /// A watcher's subscription is over.
        case ended
        /// A far leg was lost and is asked for anew.
        case lost
        /// The far side refused or ended a far leg for good.
        case farEnded
        /// The far side named another place to subscribe to.
        case redirected
        /// A resource of a batch was refused, or belongs elsewhere.
        case rejected
    }

    public var at: DateTime
    public var event: Event
    /// Of the request that was refused; nil otherwise.
    public var method: String?
    /// Addresses of record; the presentity is empty where all of a batch are meant.
    public var watcher: String
    public var presentity: String
    public var callID: String
    public var status: Int?
    /// What decided, in words.
    public var rule: String

    func isAbout(watcher: String, presentity: String) -> Bool {
        self.watcher == watcher && (self.presentity == presentity || self.presentity.isEmpty)
    }
}

/// The last entries, as many as the limit allows; older ones are forgotten and counted.
struct Journal {
    private var entries: [JournalEntry] = []
    /// Where the next entry goes once the ring is full.
    private var next = 0
    /// Entries since the start.
    private(set) var total: UInt64 = 0
    var limit: Int {
        didSet {
            guard limit != oldValue else { return }
            entries = Array(newestFirst.prefix(limit).reversed())
            next = 0
        }
    }

    init(limit: Int) {
        self.limit = limit
    }

    var count: Int { entries.count }

    mutating func add(_ entry: JournalEntry) {
        total &+= 1
        guard limit > 0 else { return }
        if entries.count < limit {
            entries.append(entry)
        } else {
            entries[next] = entry
            next = (next + 1) % limit
        }
    }

    var newestFirst: [JournalEntry] { entries[..<next].reversed() + entries[next...].reversed() }
}

extension Gateway {
    func note(
        _ event: JournalEntry.Event, method: SIPMethod? = nil, watcher: String, presentity: String, callID: String, status: Int? = nil,
        rule: @autoclosure () -> String, at now: Instant
    ) {
        journal.add(
            JournalEntry(
                at: DateTime(nanosecondsSince1970: now.nanosecondsSince1970), event: event, method: method?.rawValue, watcher: watcher,
                presentity: presentity, callID: callID, status: status, rule: rule()))
    }

    /// What was refused, lost or ended lately in dialogs with this Call-ID, newest first.
    public func journal(ofCallID callID: String) -> [JournalEntry] { journal.newestFirst.filter { $0.callID == callID } }

    /// Keeps a refusal in mind, unless it only asks for credentials.
    func note(_ refusal: Refusal, of request: SIPRequest, at now: Instant) {
        guard request.method != .options, request.method != .register, refusal.status != .unauthorized,
            refusal.status != .proxyAuthenticationRequired
        else { return }
        let from = request.headers.from?.uri.aorKey ?? ""
        let to = request.headers.to?.uri.aorKey ?? ""
        let isNotification = request.method == .notify || request.method == .benotify
        let isBatch = request.method == .subscribe && CategoryRequest.isBatch(request.headers)
        note(
            .refused, method: request.method, watcher: isNotification ? to : from, presentity: isNotification ? from : isBatch ? "" : to,
            callID: request.headers.callID ?? "", status: refusal.status.rawValue, rule: refusal.explanation, at: now)
    }
}

extension Gateway {
    /// Keeps the end of a subscription in mind.
    func note(_ reason: Notifier.EndReason, of watcher: WatcherDialog, at now: Instant) {
        var status: Int?
        if case .refused(let answered) = reason { status = answered }
        note(
            .ended, watcher: watcher.watcherKey, presentity: watcher.isBatch ? "" : watcher.resources.first?.key ?? "",
            callID: watcher.dialog.id.callID, status: status, rule: reason.words, at: now)
    }
}

extension Notifier.EndReason {
    /// In words for an operator.
    var words: String {
        switch self {
        case .unsubscribed: "the watcher unsubscribed (RFC 6665 4.1.2.3)"
        case .fetched: "the watcher asked once, with Expires 0 (RFC 6665 4.4.3)"
        case .expired: "the watcher did not refresh in time (RFC 6665 4.2.1.4)"
        case .terminated(let reason): "this gateway ended it: \(reason.rawValue)"
        case .refused: "the watcher refused a NOTIFY (RFC 6665 4.2.2)"
        case .unreachable: "the watcher could not be reached with a NOTIFY (RFC 6665 4.2.2)"
        }
    }
}
