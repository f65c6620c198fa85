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
        /// Parts of a notified document were passed over, because they break its standard.
        case flawed
        /// Nothing of a notified document could be read: what is known is unverified, and the whole state was asked for.
        case unreadable
    }

    public var at: DateTime
    public var event: Event
    /// Of the request that was refused; nil otherwise.
    public var method: String?
    /// Addresses of record; the presentity is empty where all of a batch or a list are meant.
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

/// The last entries, as many as the limit allows; older ones are forgotten.
struct Journal {
    private var entries: [JournalEntry] = []
    /// Where the next entry goes once the ring is full.
    private var next = 0
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
                at: DateTime(now), event: event, method: method?.rawValue, watcher: watcher,
                presentity: presentity, callID: callID, status: status, rule: rule()))
    }

    /// What was refused, lost or ended lately in dialogs with this Call-ID, newest first.
    public func journal(ofCallID callID: String) -> [JournalEntry] { journal.newestFirst.filter { $0.callID == callID } }

    /// Keeps a refusal in mind, unless it only asks for credentials.
    /// - Parameter reason: what decided, where the answer does not say it.
    func note(_ refusal: Refusal, of request: SIPRequest, because reason: String? = nil, at now: Instant) {
        guard request.method != .options, request.method != .register, refusal.status != .unauthorized,
            refusal.status != .proxyAuthenticationRequired
        else { return }
        let (watcher, presentity) = parties(ofRefused: request)
        note(
            .refused, method: request.method, watcher: watcher, presentity: presentity, callID: request.headers.callID ?? "",
            status: refusal.status.rawValue, rule: reason ?? refusal.detail ?? refusal.explanation, at: now)
    }

    /// Who was refused whom, by the names that everything is decided by; nobody where all of a batch or a list are meant.
    private func parties(ofRefused request: SIPRequest) -> (watcher: String, presentity: String) {
        let from = request.headers.from.map { canonicalKey(of: $0.uri) } ?? ""
        let to = request.headers.to.map { canonicalKey(of: $0.uri) } ?? ""
        let tag = request.headers.toTag
        switch request.method {
        case .notify, .benotify:
            guard let leg = tag.flatMap({ upstreamsByTag[$0] }) else { return (watcher: to, presentity: from) }
            return (watcher: leg.watcher.aorKey, presentity: leg.only?.key ?? "")
        case .subscribe:
            if let dialog = tag.flatMap({ dialogs[$0] }) { return (watcher: from, presentity: dialog.soleKey) }
            // As a subscription is decided by its Request-URI; in a dialog that is our Contact.
            let asked = tag == nil ? canonicalKey(of: request.uri) : to
            let namesResources = CategoryRequest.isBatch(request.headers) || asked == configuration.listServer?.aorKey
            return (watcher: from, presentity: namesResources ? "" : asked)
        case .publish:
            return (watcher: from, presentity: canonicalKey(of: request.uri))
        default:
            return (watcher: from, presentity: to)
        }
    }

    /// The key of a user by any of his names.
    func canonicalKey(of uri: SIPURI) -> String { configuration.canonical(uri).aorKey }
}

extension WatcherDialog {
    /// The presentity of a single subscription; empty where several are meant.
    var soleKey: String { namesResources ? "" : resources.first?.key ?? "" }
}

extension Gateway {
    /// Keeps the end of a subscription in mind.
    func note(_ reason: Notifier.EndReason, of watcher: WatcherDialog, at now: Instant) {
        var status: Int?
        if case .refused(let answered) = reason { status = answered }
        note(
            .ended, watcher: watcher.watcherKey, presentity: watcher.soleKey,
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
