import ByteCoding
import PresenceDocuments
import XMLCore

/// The publisher for one user's categories at a remote home server (MS-PRES 3.2.4): publishes the wanted instances with the versions
/// that the server expects, and removes the others.
///
/// Level-triggered: ``requestedPublications`` are the wanted instances, ``standings`` the known state of the server; each request covers
/// the whole difference. One request is outstanding at a time.
///
///     wanted, standings --next--> publish request --200--> standings follow
///                          ^                      | 409: versions from the fault, again, at most `conflictLimit` times
///                          |                      | 408, 480, 5xx, silence: again after a pause; what arrived is unknown
///                          +----------------------+ other refusals: nothing was committed (MS-PRES 3.2.5.4)
public struct CategoryPublicationClient: Hashable, Sendable {
    /// A wanted instance with its lifetime.
    public struct RequestedPublication: Hashable, Sendable {
        /// The content.
        public let body: XMLFragment
        /// Requested lifetime in seconds; expireType is `time`, so that the instance ends even if this publisher disappears.
        public var expires: UInt32
        /// Time until which the instance is wanted at least.
        public var until: DateTime
        /// Digest of the body.
        fileprivate let digest: UInt64

        /// Creates a wanted instance.
        public init(body: XMLFragment, expires: UInt32, until: DateTime) {
            self.body = body
            self.expires = expires
            self.until = until
            digest = CategoryPublicationClient.digest(body)
        }
    }

    /// The known state of an instance at the server.
    public struct Standing: Hashable, Sendable {
        /// The version; 0: the instance may not exist.
        public var version: UInt32
        /// Digest of the body, see ``CategoryPublicationClient/digest(_:)``.
        public var digest: UInt64
        /// Time at which the server removes the instance.
        public var until: DateTime
        /// Time at which the instance is published again if it is wanted beyond ``until``.
        public var renewAt: DateTime
        /// Whether the state is unverified: a request got no answer, or another publisher wrote the instance.
        public var isUncertain: Bool

        /// Creates a state, for example from a stored record.
        public init(version: UInt32, digest: UInt64, until: DateTime, renewAt: DateTime, isUncertain: Bool) {
            self.version = version
            self.digest = digest
            self.until = until
            self.renewAt = renewAt
            self.isUncertain = isUncertain
        }
    }

    /// Number of consecutive conflicts after which the next attempt waits, because another publisher writes the same instances.
    public static let conflictLimit = 3

    /// URI of the user, with scheme.
    public let uri: String
    /// The wanted instances; call ``next(at:)`` after a change.
    public private(set) var requestedPublications: [PublicationID: RequestedPublication] = [:]
    /// The known state of the server, without the request in flight.
    public private(set) var standings: [PublicationID: Standing]
    private var inFlight: [CategoryPublication] = []
    private var sentAt = DateTime(nanosecondsSince1970: 0)
    private var conflicts = 0
    private var failures = 0
    private var pausedUntil: DateTime?
    private var isRefused = false
    private let shortestPause: Int64
    private let longestPause: Int64

    /// Creates a publisher.
    /// - Parameters:
    ///   - uri: the user, with scheme.
    ///   - standings: the state stored by an earlier process.
    ///   - shortestPause: seconds after the first failure, doubled up to `longestPause`; also the shortest interval of renewal.
    public init(
        uri: String, standings: [PublicationID: Standing] = [:], shortestPause: Int64 = 5, longestPause: Int64 = 300
    ) {
        self.uri = uri
        self.standings = standings
        self.shortestPause = shortestPause
        self.longestPause = longestPause
    }

    /// Whether a request is in flight.
    public var isAsking: Bool { !inFlight.isEmpty }
    /// Whether nothing is wanted, and nothing is known to exist at the server.
    public var isIdle: Bool { requestedPublications.isEmpty && standings.isEmpty && !isAsking }
    /// Whether the server has the wanted instances, and no request is in flight.
    public func isSettled(at now: DateTime) -> Bool { !isAsking && gap(at: now).isEmpty }

    /// The standings to store before the request in flight is sent: its instances are marked uncertain.
    public var keptStandings: [PublicationID: Standing] {
        var kept = standings
        for publication in inFlight { kept[publication.id] = uncertain(publication, standings[publication.id]) }
        return kept
    }

    /// Sets the wanted instances; ``next(at:)`` makes the requests.
    public mutating func request(_ publications: [PublicationID: RequestedPublication]) { requestedPublications = publications }

    /// Time at which ``next(at:)`` has work; nil: only after a change of ``requestedPublications``, or after the response to the request in
    /// flight.
    public var nextDeadline: DateTime? {
        guard !isAsking else { return nil }
        var earliest: DateTime?
        func consider(_ moment: DateTime) { earliest = earliest.map { min($0, moment) } ?? moment }
        for (id, standing) in standings {
            guard let requested = requestedPublications[id] else {
                consider(min(pausedUntil ?? standing.until, standing.until))
                continue
            }
            if isDue(standing, for: requested, at: standing.renewAt) {
                consider(pausedUntil.map { max($0, standing.renewAt) } ?? standing.renewAt)
            }
            if standing.isUncertain || standing.digest != requested.digest, let pausedUntil { consider(pausedUntil) }
        }
        if let pausedUntil, requestedPublications.keys.contains(where: { standings[$0] == nil }) { consider(pausedUntil) }
        return earliest
    }

    // MARK: Requests

    /// The next request; nil if nothing differs, a request is in flight, or a pause is not over.
    public mutating func next(at now: DateTime) -> CategoryPublishDocument? {
        guard !isAsking else { return nil }
        for (id, standing) in standings where requestedPublications[id] == nil && standing.until <= now { standings[id] = nil }
        if let pausedUntil, now < pausedUntil { return nil }
        pausedUntil = nil
        inFlight = gap(at: now)
        sentAt = now
        return inFlight.isEmpty ? nil : CategoryPublishDocument(uri: uri, publications: inFlight)
    }

    private func gap(at now: DateTime) -> [CategoryPublication] {
        var publications: [CategoryPublication] = []
        for id in Set(requestedPublications.keys).union(standings.keys).sorted() {
            let standing = standings[id]
            if let requested = requestedPublications[id] {
                if let standing, !standing.isUncertain, standing.digest == requested.digest, !isDue(standing, for: requested, at: now) {
                    continue
                }
                publications.append(publication(id, standing?.version ?? 0, expires: requested.expires, body: requested.body))
            } else if let standing, standing.until > now {
                publications.append(publication(id, standing.version, expires: 0, body: nil))
            }
        }
        return publications
    }

    /// Whether the granted lifetime ends before ``RequestedPublication/until`` and the time of renewal has come.
    private func isDue(_ standing: Standing, for requested: RequestedPublication, at now: DateTime) -> Bool {
        standing.until < requested.until && now >= standing.renewAt
    }

    private func publication(_ id: PublicationID, _ version: UInt32, expires: UInt32, body: XMLFragment?) -> CategoryPublication {
        CategoryPublication(
            categoryName: id.category, instance: id.instance, container: id.container, version: version, expireType: .time,
            expires: expires, body: body)
    }

    // MARK: Responses

    /// Processes a 200: the whole request is committed (MS-PRES 3.2.5.1.2).
    /// - Parameter answer: the instances in the response; absent ones are assumed to have the next version.
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
            // Limits the rate of renewals for a server that grants very short lifetimes.
            standings[id] = Standing(
                version: said[id]?.version ?? CategoryInstance.successor(of: publication.version), digest: Self.digest(publication.body),
                until: now.adding(seconds: seconds), renewAt: now.adding(seconds: max(seconds * 3 / 4, shortestPause)),
                isUncertain: false)
        }
    }

    /// Processes a 409: takes over the versions in the fault (MS-PRES 2.2.2.2.3); without a fault every instance of the request
    /// becomes uncertain.
    public mutating func conflicted(_ fault: FaultDocument?, at now: DateTime) {
        let batch = inFlight
        inFlight = []
        conflicts += 1
        let operations = (fault?.operations ?? []).filter { $0.index >= 1 && Int($0.index) <= batch.count }
        if operations.isEmpty {
            for publication in batch {
                standings[publication.id] = requestedPublications[publication.id] == nil ? nil : lost(publication, at: now)
            }
        }
        for operation in operations {
            let publication = batch[Int(operation.index) - 1]
            if operation.currentVersion == 0 {
                // If the server has lost one instance, it may have lost all of them.
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

    /// Processes a timeout or a response that asks for a retry: it is unknown which publications were committed.
    /// - Parameter retryAfter: pause in seconds, from 1 to 86,400; nil: the doubling pause.
    public mutating func failed(retryAfter: Int? = nil, at now: DateTime) {
        for publication in inFlight { standings[publication.id] = uncertain(publication, standings[publication.id]) }
        inFlight = []
        pause(retryAfter.map { Int64($0) }, at: now)
    }

    /// Processes a permanent refusal: nothing was committed. A refused request with removals only is not repeated; its instances end
    /// by themselves.
    /// - Parameter isChallenge: Whether credentials are missing; then also removals are repeated, after the longest pause.
    public mutating func refused(isChallenge: Bool = false, at now: DateTime) {
        if !isChallenge, inFlight.allSatisfy(\.isRemoval) {
            for publication in inFlight { standings[publication.id] = nil }
        }
        inFlight = []
        pause(longestPause, at: now)
        isRefused = true
    }

    /// Ends a pause caused by a refusal, because the wishes have changed. A pause after a timeout or Retry-After continues.
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

    /// The state after a request of unknown outcome: the instance may exist for the longest lifetime requested.
    private func uncertain(_ publication: CategoryPublication, _ known: Standing?) -> Standing {
        let asked = sentAt.adding(seconds: Int64(publication.expires ?? 0) + Self.longestTransaction)
        var standing = known ?? lost(publication, at: asked)
        standing.isUncertain = true
        if !publication.isRemoval { standing.until = max(standing.until, asked) }
        return standing
    }

    /// Longest time in seconds until an unanswered request counts as lost (RFC 3261 timer F).
    private static let longestTransaction: Int64 = 32

    private func lost(_ publication: CategoryPublication, at now: DateTime) -> Standing {
        Standing(version: 0, digest: Self.digest(publication.body), until: now, renewAt: now, isUncertain: true)
    }

    /// FNV-1a of the body with 64 bits, stable across restarts; the initial value for nil.
    public static func digest(_ body: XMLFragment?) -> UInt64 {
        FNV1a(of: body?.bytes ?? []).value
    }
}
