import SIPCore
import XMLCore

/// Address of the resource list with which a watcher's presentities of a domain share one subscription (RFC 4662).
package enum UpstreamLists: Hashable, Sendable {
    /// URI of a service that expands the list in the body of the SUBSCRIBE (RFC 5367).
    case adHoc(service: String)
    /// URI of a list that the domain stores for the watcher; `{user}` and `{host}` are replaced by the parts of the watcher's URI.
    case kept(template: String)

    /// URI of the list of a watcher; nil: the configured text gives no `sip` or `sips` URI.
    package func uri(of watcher: SIPURI) -> SIPURI? {
        let text: String
        switch self {
        case .adHoc(let service): text = service
        case .kept(let template):
            text = Self.replacing("{user}", in: Self.replacing("{host}", in: template, by: watcher.domainKey), by: watcher.user ?? "")
        }
        guard let uri = SIPURI(text), uri.scheme == .sip || uri.scheme == .sips else { return nil }
        return uri
    }

    private static func replacing(_ name: String, in text: String, by value: String) -> String {
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: "{") {
            result += rest[..<start]
            rest = rest[start...]
            if rest.hasPrefix(name) {
                result += value
                rest = rest.dropFirst(name.count)
            } else {
                result.append(rest.removeFirst())
            }
        }
        return result + rest
    }
}

/// State of an upstream subscription to a list, apart from its presentities (RFC 4662, RFC 5367).
///
///     unheard --a presentity is reported--> heard; the predecessor ends
///     open --members without a state--> planned --due, still without--> asked; reported meanwhile: open
///     any --replaced: its successor feeds the watchers--> ends with the successor's first state
final class UpstreamList {
    /// Request for the full state once more in the present dialog, because members were listed without a state (RFC 4662 5.5).
    enum Completion: Equatable {
        case open
        case planned(Instant)
        case asked
    }

    /// Whether the remote domain stores the list; otherwise the SUBSCRIBE carries it and names the subscription's presentities.
    let isKept: Bool
    /// State of the list in the present dialog.
    private(set) var state = ResourceListState() {
        didSet { knownMembers = nil }
    }
    private var knownMembers: Set<String>?
    /// Whether a presentity was reported in the present dialog.
    private(set) var isHeard = false
    private(set) var completion = Completion.open
    /// Subscription that this one replaces; it stays until this one reports a presentity.
    private(set) var predecessor: UpstreamSubscription?
    /// Whether another subscription is about to replace this one.
    private(set) var isReplaced = false

    init(isKept: Bool) { self.isKept = isKept }

    /// Creates the list of a subscription that replaces another.
    init(replacing old: UpstreamSubscription) {
        isKept = false
        predecessor = old
        old.list?.isReplaced = true
    }

    /// `aorKey`s of the resources in the list.
    var members: Set<String> {
        if let knownMembers { return knownMembers }
        let members = Set(state.resources.compactMap { CategoryRequest.address($0)?.aorKey })
        knownMembers = members
        return members
    }

    /// Time to request the full state once more; nil: not planned.
    var asksAgainAt: Instant? {
        if case .planned(let moment) = completion { moment } else { nil }
    }

    /// Reads a notification of the list.
    /// - Throws: the refusal of the NOTIFY.
    func read(
        _ body: [UInt8], contentType: MediaType, presentities: [String], parser: XMLParser, limit: Int
    ) throws(Refusal) -> UpstreamContent {
        try UpstreamContent(
            list: body, contentType: contentType, state: &state, isKept: isKept, presentities: presentities, parser: parser, limit: limit)
    }

    /// Notes that a presentity was reported.
    func heard() { isHeard = true }

    /// Plans to request the full state once more; ignored if it is planned or was requested already.
    func planCompletion(at moment: Instant) {
        if completion == .open { completion = .planned(moment) }
    }

    /// Handles the planned time.
    /// - Parameter isNeeded: whether members still have no state.
    /// - Returns: whether to request the full state now.
    func advance(at now: Instant, isNeeded: () -> Bool) -> Bool {
        guard case .planned(let moment) = completion, now >= moment else { return false }
        let asks = isNeeded()
        completion = asks ? .asked : .open
        return asks
    }

    /// Lets go of the subscription that this one replaces.
    func releasePredecessor() -> UpstreamSubscription? {
        defer { predecessor = nil }
        return predecessor
    }

    /// Discards the state of the list at the start of a dialog.
    func reset() {
        state = ResourceListState()
        isHeard = false
        completion = .open
    }
}
