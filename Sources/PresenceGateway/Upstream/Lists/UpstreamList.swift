import SIPCore

/// Address of the resource list with which a watcher's presentities of a domain share one subscription (RFC 4662).
public enum UpstreamLists: Hashable, Sendable {
    /// URI of a service that expands the list in the body of the SUBSCRIBE (RFC 5367).
    case adHoc(service: String)
    /// URI of a list that the domain stores for the watcher; `{user}` and `{host}` are replaced by the parts of the watcher's URI.
    case kept(template: String)

    /// URI of the list of a watcher; nil: the configured text gives no `sip` or `sips` URI.
    public func uri(of watcher: SIPURI) -> SIPURI? {
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
final class UpstreamList {
    /// Whether the remote domain stores the list; otherwise the SUBSCRIBE carries it and names the subscription's presentities.
    let isKept: Bool
    /// State of the list in the present dialog.
    var state = ResourceListState() {
        didSet { knownMembers = nil }
    }
    private var knownMembers: Set<String>?
    /// Whether a presentity was reported in the present dialog.
    var isHeard = false
    /// Time to request the full state once more, because members were listed without a state (RFC 4662 5.5).
    var asksAgainAt: Instant?
    /// Whether the full state was requested once more in the present dialog.
    var hasAskedAgain = false
    /// Subscription that this one replaces; it stays until this one reports a presentity.
    var predecessor: UpstreamSubscription?
    /// Whether another subscription is about to replace this one.
    var isReplaced = false

    init(isKept: Bool) { self.isKept = isKept }

    /// `aorKey`s of the resources in the list.
    var members: Set<String> {
        if let knownMembers { return knownMembers }
        let members = Set(state.resources.compactMap { CategoryRequest.address($0)?.aorKey })
        knownMembers = members
        return members
    }

    /// Discards the state of the list at the start of a dialog.
    func reset() {
        state = ResourceListState()
        isHeard = false
        asksAgainAt = nil
        hasAskedAgain = false
    }
}
