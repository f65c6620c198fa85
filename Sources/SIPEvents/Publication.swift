import SIPCore

/// Publications of one presentity at the event state compositor (RFC 3903 6): live entity-tags, their expiry and the meaning of
/// each PUBLISH. Documents are kept elsewhere under the same tags.
///
///     no tag --body, Expires > 0--> live(tag) --tag: refresh or modify--> live(new tag)
///                                      | tag, Expires 0, or lapse
///                                      v
///                                    gone
public struct PublicationTable: Hashable, Sendable {
    /// Operation of a PUBLISH, by body, SIP-If-Match and Expires (RFC 3903 table 1).
    public enum Operation: Hashable, Sendable {
        /// Store the body under this new tag.
        case create(EntityTag)
        /// Keep the body under a new tag.
        case refresh(EntityTag, to: EntityTag)
        /// Replace the body of the old tag.
        case modify(EntityTag, to: EntityTag)
        case remove(EntityTag)
        /// Store nothing: a body with Expires 0 and no tag.
        case nothing
    }

    /// Result of a PUBLISH, from which its response follows.
    public enum Outcome: Hashable, Sendable {
        /// 200 with this SIP-ETag and Expires.
        case accepted(Operation, tag: EntityTag, expires: Int)
        /// 400: neither body nor tag, or several tags (RFC 3903 6.3, 6.5).
        case malformed
        /// 412 Conditional Request Failed.
        case unknownTag
        /// 423 with this Min-Expires.
        case tooBrief(minimum: Int)
        /// The table is full: no new publication is accepted.
        case full
    }

    /// Policy for requested lifetimes.
    public let expiry: ExpiryPolicy
    /// Largest number of publications.
    public let limit: Int
    private var deadlines: [EntityTag: Instant] = [:]

    /// Creates an empty table.
    public init(expiry: ExpiryPolicy, limit: Int) {
        self.expiry = expiry
        self.limit = limit
    }

    /// Number of publications; expired ones count until ``advance(to:)``.
    public var count: Int { deadlines.count }
    /// Whether there are no publications; expired ones count until ``advance(to:)``.
    public var isEmpty: Bool { deadlines.isEmpty }

    /// Handles a PUBLISH and updates the table if it is accepted.
    /// - Parameters:
    ///   - ifMatch: Tags of SIP-If-Match; empty without the header.
    ///   - newTag: Tag never used before; issued when the request is accepted.
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

    /// Restores a publication from before a restart; the limit is not checked.
    public mutating func restore(_ tag: EntityTag, until deadline: Instant) { deadlines[tag] = deadline }

    /// Removes a publication, whether it exists or not.
    public mutating func forget(_ tag: EntityTag) { deadlines[tag] = nil }

    /// Earliest expiry; nil without publications.
    public var nextDeadline: Instant? { deadlines.values.min() }

    /// Removes expired publications and returns their tags, earliest expiry first.
    public mutating func advance(to now: Instant) -> [EntityTag] {
        let lapsed = deadlines.filter { $0.value <= now }.sorted { ($0.value, $0.key.value) < ($1.value, $1.key.value) }.map(\.key)
        for tag in lapsed { deadlines[tag] = nil }
        return lapsed
    }
}
