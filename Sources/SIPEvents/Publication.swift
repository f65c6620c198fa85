import SIPCore

/// The event state compositor's table of one presentity's publications (RFC 3903 section 6): which entity-tags live, until when,
/// and what each PUBLISH means. The documents themselves are kept elsewhere under the same tags.
///
///     no tag --body, Expires > 0--> live(tag) --tag: refresh or modify--> live(new tag)
///                                      | tag, Expires 0, or lapse
///                                      v
///                                    gone
public struct PublicationTable: Hashable, Sendable {
    /// What a PUBLISH is, by body, SIP-If-Match and Expires (RFC 3903 table 1).
    public enum Operation: Hashable, Sendable {
        /// Keep the body under this new tag.
        case create(EntityTag)
        /// Same body, new tag.
        case refresh(EntityTag, to: EntityTag)
        /// The body replaces that of the old tag.
        case modify(EntityTag, to: EntityTag)
        case remove(EntityTag)
        /// A body with Expires 0 and no tag: nothing is kept.
        case nothing
    }

    public enum Outcome: Hashable, Sendable {
        /// 200 with this SIP-ETag and Expires.
        case accepted(Operation, tag: EntityTag, expires: Int)
        /// 400: neither body nor tag, or several tags (RFC 3903 6.3, 6.5).
        case malformed
        /// 412 Conditional Request Failed.
        case unknownTag
        /// 423 with this Min-Expires.
        case tooBrief(minimum: Int)
        /// The table is full.
        case full
    }

    public let expiry: ExpiryPolicy
    public let limit: Int
    private var deadlines: [EntityTag: Instant] = [:]

    public init(expiry: ExpiryPolicy, limit: Int) {
        self.expiry = expiry
        self.limit = limit
    }

    public var count: Int { deadlines.count }
    public var isEmpty: Bool { deadlines.isEmpty }

    /// - Parameters:
    ///   - ifMatch: the tags of SIP-If-Match, none without the header.
    ///   - newTag: a tag never used before; given out when the request is accepted.
    public mutating func receive(
        ifMatch: [EntityTag], hasBody: Bool, expires wish: Int?, newTag: EntityTag, at now: Instant
    ) -> Outcome {
        if ifMatch.count > 1 { return .malformed }
        if let tag = ifMatch.first {
            guard let deadline = deadlines[tag], deadline > now else { return .unknownTag }
        } else if !hasBody {
            return .malformed
        }
        let granted: Int
        switch expiry.decide(wish) {
        case .tooBrief(let minimum): return .tooBrief(minimum: minimum)
        case .grant(let seconds): granted = seconds
        }
        guard let tag = ifMatch.first else {
            if granted == 0 { return .accepted(.nothing, tag: newTag, expires: 0) }
            if deadlines.count >= limit { return .full }
            deadlines[newTag] = now + .seconds(granted)
            return .accepted(.create(newTag), tag: newTag, expires: granted)
        }
        deadlines[tag] = nil
        if granted == 0 { return .accepted(.remove(tag), tag: newTag, expires: 0) }
        deadlines[newTag] = now + .seconds(granted)
        return .accepted(hasBody ? .modify(tag, to: newTag) : .refresh(tag, to: newTag), tag: newTag, expires: granted)
    }

    /// Takes a publication back as it was before a restart.
    public mutating func restore(_ tag: EntityTag, until deadline: Instant) { deadlines[tag] = deadline }

    /// The moment the first publication lapses.
    public var nextDeadline: Instant? { deadlines.values.min() }

    /// Drops what has lapsed and names it, oldest deadline first.
    public mutating func advance(to now: Instant) -> [EntityTag] {
        let lapsed = deadlines.filter { $0.value <= now }.sorted { ($0.value, $0.key.value) < ($1.value, $1.key.value) }.map(\.key)
        for tag in lapsed { deadlines[tag] = nil }
        return lapsed
    }
}
