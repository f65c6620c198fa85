import SIPCore

/// How the presentities of a domain are had in one subscription per watcher (RFC 4662).
public enum UpstreamLists: Hashable, Sendable {
    /// The URI of a service that takes the list with the SUBSCRIBE (RFC 5367).
    case adHoc(service: String)
    /// The URI of a list that the domain keeps for the watcher, in which `{user}` and `{host}` stand for the watcher's.
    case kept(template: String)

    /// Where a watcher's list is; nil: what is configured makes no SIP URI of this watcher.
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

/// What a far leg that subscribes to a list knows besides its presentities (RFC 4662, RFC 5367).
final class UpstreamList {
    /// The far side keeps the list; else it comes with the SUBSCRIBE and is the leg's presentities.
    let isKept: Bool
    /// Of the present dialog.
    var state = ResourceListState() {
        didSet { knownMembers = nil }
    }
    private var knownMembers: Set<String>?
    /// Something was shown in the present dialog.
    var isHeard = false
    /// When the whole state is asked for once more, because the list spoke of members without their state (RFC 4662 5.5).
    var asksAgainAt: Instant?
    /// It was asked for once more in the present dialog.
    var hasAskedAgain = false
    /// The leg that this one takes the place of; it goes on until this one has shown something.
    var predecessor: UpstreamSubscription?
    /// Another leg is to take the place of this one.
    var isReplaced = false

    init(isKept: Bool) { self.isKept = isKept }

    /// The `aorKey`s of those of whom the list speaks.
    var members: Set<String> {
        if let knownMembers { return knownMembers }
        let members = Set(state.resources.compactMap { CategoryRequest.address($0)?.aorKey })
        knownMembers = members
        return members
    }

    /// A dialog begins: nothing is known.
    func reset() {
        state = ResourceListState()
        isHeard = false
        asksAgainAt = nil
        hasAskedAgain = false
    }
}
