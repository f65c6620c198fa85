import PresenceDocuments
import XMLCore

/// The publisher's side of category publications of one user at a foreign home server (MS-PRES 3.2.4): keeps there what is wished,
/// with the versions that the server wants to hear, and takes away what is wished no more.
///
/// Level-triggered: ``wishes`` say what should be there, ``standings`` what is known to be there; each request closes the whole gap
/// between the two. One request is outstanding at a time.
///
///     wishes, standings --next--> publish request --200--> standings follow
///                          ^                      | 409: versions from the fault, again, at most `conflictLimit` times
///                          |                      | 408, 480, 5xx, silence: again after a pause; what arrived is unknown
///                          +----------------------+ other refusals: nothing was committed (MS-PRES 3.2.5.4)
public struct CategoryPublicationClient: Hashable, Sendable {
    /// What an instance is to say, and for how long.
    public struct Wish: Hashable, Sendable {
        public let body: XMLFragment
        /// Seconds to ask for; expireType is `time`, so that nothing stays behind whatever happens to this publisher.
        public var expires: UInt32
        /// The instance is wanted at least until then.
        public var until: DateTime
        /// Of the body.
        fileprivate let digest: UInt64

        public init(body: XMLFragment, expires: UInt32, until: DateTime) {
            self.body = body
            self.expires = expires
            self.until = until
            digest = CategoryPublicationClient.digest(body)
        }
    }

    /// What is known of an instance at the server.
    public struct Standing: Hashable, Sendable {
        /// 0: it may not be there at all.
        public var version: UInt32
        /// Of the body.
        public var digest: UInt64
        /// When it ends there by itself.
        public var until: DateTime
        /// When it is to be published again, if it is wanted for longer than it lives.
        public var renewAt: DateTime
        /// Whether a request about it got no answer, or its body is somebody else's.
        public var isUncertain: Bool

        public init(version: UInt32, digest: UInt64, until: DateTime, renewAt: DateTime, isUncertain: Bool) {
            self.version = version
            self.digest = digest
            self.until = until
            self.renewAt = renewAt
            self.isUncertain = isUncertain
        }
    }

    /// Conflicts in a row after which the next attempt waits: somebody else writes the same instances.
    public static let conflictLimit = 3

    public let uri: String
    public var wishes: [PublicationID: Wish] = [:]
    public private(set) var standings: [PublicationID: Standing]
    private var inFlight: [CategoryPublication] = []
    private var sentAt = DateTime(nanosecondsSince1970: 0)
    private var conflicts = 0
    private var failures = 0
    private var pausedUntil: DateTime?
    private var isRefused = false
    private let shortestPause: Int64
    private let longestPause: Int64

    /// - Parameters:
    ///   - uri: the user, with scheme.
    ///   - standings: as an earlier process kept them.
    ///   - shortestPause: seconds after the first failure, doubling up to `longestPause`; an instance is renewed no oftener.
    public init(
        uri: String, standings: [PublicationID: Standing] = [:], shortestPause: Int64 = 5, longestPause: Int64 = 300
    ) {
        self.uri = uri
        self.standings = standings
        self.shortestPause = shortestPause
        self.longestPause = longestPause
    }

    public var isAsking: Bool { !inFlight.isEmpty }
    /// Whether nothing is wished, and nothing is known to be left at the server.
    public var isIdle: Bool { wishes.isEmpty && standings.isEmpty && !isAsking }
    /// Whether the server has what is wished, and no request is on its way.
    public func isSettled(at now: DateTime) -> Bool { !isAsking && gap(at: now).isEmpty }

    /// The standings with those uncertain that a request on its way is about: what must be kept before it leaves.
    public var keptStandings: [PublicationID: Standing] {
        var kept = standings
        for publication in inFlight { kept[publication.id] = uncertain(publication, standings[publication.id]) }
        return kept
    }

    /// When ``next(at:)`` has something to do again; nil: only when wishes change.
    public var nextDeadline: DateTime? {
        guard !isAsking else { return nil }
        var earliest: DateTime?
        func consider(_ moment: DateTime) { earliest = earliest.map { min($0, moment) } ?? moment }
        for (id, standing) in standings {
            guard let wish = wishes[id] else {
                consider(min(pausedUntil ?? standing.until, standing.until))
                continue
            }
            if isDue(standing, for: wish, at: standing.renewAt) {
                consider(pausedUntil.map { max($0, standing.renewAt) } ?? standing.renewAt)
            }
            if standing.isUncertain || standing.digest != wish.digest, let pausedUntil { consider(pausedUntil) }
        }
        if let pausedUntil, wishes.keys.contains(where: { standings[$0] == nil }) { consider(pausedUntil) }
        return earliest
    }

    // MARK: requests

    /// The request that closes the gap; nil: there is none, one is on its way, or it is not yet time.
    public mutating func next(at now: DateTime) -> CategoryPublishDocument? {
        guard !isAsking else { return nil }
        for (id, standing) in standings where wishes[id] == nil && standing.until <= now { standings[id] = nil }
        if let pausedUntil, now < pausedUntil { return nil }
        pausedUntil = nil
        inFlight = gap(at: now)
        sentAt = now
        return inFlight.isEmpty ? nil : CategoryPublishDocument(uri: uri, publications: inFlight)
    }

    private func gap(at now: DateTime) -> [CategoryPublication] {
        var publications: [CategoryPublication] = []
        for id in Set(wishes.keys).union(standings.keys).sorted() {
            let standing = standings[id]
            if let wish = wishes[id] {
                if let standing, !standing.isUncertain, standing.digest == wish.digest, !isDue(standing, for: wish, at: now) {
                    continue
                }
                publications.append(publication(id, standing?.version ?? 0, expires: wish.expires, body: wish.body))
            } else if let standing, standing.until > now {
                publications.append(publication(id, standing.version, expires: 0, body: nil))
            }
        }
        return publications
    }

    /// Whether the life that the server gave ends before it is wanted to.
    private func isDue(_ standing: Standing, for wish: Wish, at now: DateTime) -> Bool {
        standing.until < wish.until && now >= standing.renewAt
    }

    private func publication(_ id: PublicationID, _ version: UInt32, expires: UInt32, body: XMLFragment?) -> CategoryPublication {
        CategoryPublication(
            categoryName: id.category, instance: id.instance, container: id.container, version: version, expireType: .time,
            expires: expires, body: body)
    }

    // MARK: answers

    /// 200: all of the request is committed (MS-PRES 3.2.5.1.2).
    /// - Parameter answer: the instances as the server has them now; what it does not name counts as the next version.
    public mutating func accepted(_ answer: CategoriesDocument?, at now: DateTime) {
        let batch = inFlight
        inFlight = []
        conflicts = 0
        failures = 0
        var said: [PublicationID: CategoryElement] = [:]
        for element in answer?.categories ?? [] {
            guard let instance = element.instance, let container = element.container, element.version != nil else { continue }
            said[PublicationID(category: element.name, container: container, instance: instance)] = element
        }
        for publication in batch {
            let id = publication.id
            guard !publication.isRemoval else {
                standings[id] = nil
                continue
            }
            let seconds = max(1, min(said[id]?.expires ?? .max, Int64(publication.expires ?? 0)))
            // A server that grants next to nothing is asked again no oftener than one that fails.
            standings[id] = Standing(
                version: said[id]?.version ?? CategoryInstance.successor(of: publication.version), digest: Self.digest(publication.body),
                until: now.adding(seconds: seconds), renewAt: now.adding(seconds: max(seconds * 3 / 4, shortestPause)),
                isUncertain: false)
        }
    }

    /// 409: the fault says which versions the server has (MS-PRES 2.2.2.2.3); without one, everything may be gone.
    public mutating func conflicted(_ fault: FaultDocument?, at now: DateTime) {
        let batch = inFlight
        inFlight = []
        conflicts += 1
        let operations = (fault?.operations ?? []).filter { $0.index >= 1 && Int($0.index) <= batch.count }
        if operations.isEmpty {
            for publication in batch { standings[publication.id] = wishes[publication.id] == nil ? nil : lost(publication, at: now) }
        }
        for operation in operations {
            let publication = batch[Int(operation.index) - 1]
            if operation.currentVersion == 0 {
                // A server that has forgotten one has perhaps forgotten all.
                if standings[publication.id]?.isUncertain == false {
                    for id in standings.keys { standings[id]?.isUncertain = true }
                }
                standings[publication.id] = nil
            } else {
                var standing = uncertain(publication, standings[publication.id])
                standing.version = operation.currentVersion
                standings[publication.id] = standing
            }
        }
        if conflicts >= Self.conflictLimit {
            conflicts = 0
            pause(nil, at: now)
        }
    }

    /// No answer, or one that says to try later: nobody knows what was committed.
    public mutating func failed(retryAfter: Int? = nil, at now: DateTime) {
        for publication in inFlight { standings[publication.id] = uncertain(publication, standings[publication.id]) }
        inFlight = []
        pause(retryAfter.map { Int64($0) }, at: now)
    }

    /// A refusal for good: nothing was committed. Removals are not asked for again; what they were about ends by itself.
    /// - Parameter isChallenge: credentials are missing: removals are asked for again after the longest pause.
    public mutating func refused(isChallenge: Bool = false, at now: DateTime) {
        if !isChallenge, inFlight.allSatisfy(\.isRemoval) {
            for publication in inFlight { standings[publication.id] = nil }
        }
        inFlight = []
        pause(longestPause, at: now)
        isRefused = true
    }

    /// The wishes have changed: a pause after a refusal was for others. One that the server wished, or its silence, goes on.
    public mutating func tryNow() {
        if isRefused { pausedUntil = nil }
        isRefused = false
    }

    /// Seconds until the next request may be sent, at least 1.
    public func pause(at now: DateTime) -> Int64 { max(1, pausedUntil.map { now.wholeSeconds(until: $0) } ?? 1) }

    private mutating func pause(_ seconds: Int64?, at now: DateTime) {
        failures += 1
        let doubled = min(shortestPause << Int64(min(failures - 1, 10)), longestPause)
        pausedUntil = now.adding(seconds: min(max(seconds ?? doubled, 1), 86_400))
    }

    /// Whether the request was committed is unknown: the instance may be there as long as any of its requests asked for.
    private func uncertain(_ publication: CategoryPublication, _ known: Standing?) -> Standing {
        let asked = sentAt.adding(seconds: Int64(publication.expires ?? 0) + Self.longestTransaction)
        var standing = known ?? lost(publication, at: asked)
        standing.isUncertain = true
        if !publication.isRemoval { standing.until = max(standing.until, asked) }
        return standing
    }

    /// Seconds for which a request may travel before it counts as lost (RFC 3261 timer F).
    private static let longestTransaction: Int64 = 32

    private func lost(_ publication: CategoryPublication, at now: DateTime) -> Standing {
        Standing(version: 0, digest: Self.digest(publication.body), until: now, renewAt: now, isUncertain: true)
    }

    /// FNV-1a, 64 bits: tells one body from another over a restart.
    public static func digest(_ body: XMLFragment?) -> UInt64 {
        var value: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in body?.bytes ?? [] { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return value
    }
}
