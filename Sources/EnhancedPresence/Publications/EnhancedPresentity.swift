import PresenceDocuments
import XMLCore

/// Who sends a request about a presentity, as its SIP message says it.
public struct PublishingEndpoint: Hashable, Sendable {
    /// URI of the From header.
    public var from: String
    /// URI of the To header.
    public var to: String
    /// UUID of the `+sip.instance` of the Contact; compared without case (MS-PRES 2.2.2.1).
    public var endpointID: String?
    /// Whether that endpoint is registered (MS-PRES 3.2.5.4).
    public var isRegistered: Bool

    public init(from: String, to: String, endpointID: String? = nil, isRegistered: Bool = false) {
        self.from = from
        self.to = to
        self.endpointID = endpointID
        self.isRegistered = isRegistered
    }
}

/// What a request, an expiry or a deregistration changed; empty when nothing did.
public struct PresentityChange: Hashable, Sendable {
    /// Pairs whose set of instances changed.
    public var pairs: Set<ContainerCategory>
    /// Pairs that the request named without changing them: deletions of what was not there (MS-PRES 3.2.5.1.2).
    public var untouched: Set<ContainerCategory>
    /// Containers whose membership changed.
    public var containers: Set<ContainerID>
    /// Whether the subscriber list changed, or one of it was acknowledged.
    public var subscribersChanged: Bool
    /// Whether the delegates or their rights changed.
    public var delegatesChanged: Bool

    public init(
        pairs: Set<ContainerCategory> = [], untouched: Set<ContainerCategory> = [], containers: Set<ContainerID> = [],
        subscribersChanged: Bool = false, delegatesChanged: Bool = false
    ) {
        self.pairs = pairs
        self.untouched = untouched
        self.containers = containers
        self.subscribersChanged = subscribersChanged
        self.delegatesChanged = delegatesChanged
    }

    /// The categories in which something changed; a membership may concern every category.
    public var categories: Set<CategoryName> { Set(pairs.map(\.category)) }

    /// Whether no self dialog and no watcher needs to be told.
    public var isEmpty: Bool { pairs.isEmpty && containers.isEmpty && !subscribersChanged && !delegatesChanged }

    /// Takes a later change in, so that both can be told at once.
    public mutating func formUnion(_ later: PresentityChange) {
        pairs.formUnion(later.pairs)
        untouched = untouched.union(later.untouched).subtracting(pairs)
        containers.formUnion(later.containers)
        subscribersChanged = subscribersChanged || later.subscribersChanged
        delegatesChanged = delegatesChanged || later.delegatesChanged
    }
}

/// The enhanced presence data of one user: published instances and container memberships (MS-PRES 3.2.1, 3.5.1).
///
/// Pure: every input carries the time, every answer is a value. What a change makes the server compute (MS-PRES 3.8) is committed
/// with it, and is part of the answer.
///
/// ```
/// publish -------------> checks -> versions -> commit all, compute, or refuse all --> PresentityChange | EnhancedPresenceRefusal
/// setContainerMembers -> checks -> versions -> commit all, or refuse all --> PresentityChange | EnhancedPresenceRefusal
/// setSubscribers, setDelegates -> checks ---> commit, or refuse ----------> PresentityChange | EnhancedPresenceRefusal
/// endpointEnded, expire --------------------> remove, compute ------------> PresentityChange
/// ```
public struct EnhancedPresentity: Equatable, Sendable {
    /// The user, with scheme, as answers name it.
    public let uri: String
    public var policy: EnhancedPresencePolicy
    var store = CategoryStore()
    var memberships: [ContainerID: ContainerMembership] = [:]
    /// Who subscribed, as far as the user has to be told (MS-PRES 3.6.1).
    public internal(set) var subscribers = SubscriberList()
    /// Who may act for the user (MS-PRES 3.9.1).
    public internal(set) var delegates = DelegateSet()
    let address: PresenceAddress
    var lastCommit: DateTime?

    public init(uri: String, policy: EnhancedPresencePolicy = .standard) {
        self.uri = uri
        self.policy = policy
        address = PresenceAddress(uri)
    }

    /// When ``expire(at:)`` next has something to do; nil when nothing ends by itself.
    public var nextDeadline: DateTime? { store.nextDeadline }

    /// Number of instances held.
    public var instanceCount: Int { store.count }

    /// The instance of that key.
    public subscript(id: PublicationID) -> CategoryInstance? { store[id] }

    /// The instances of a pair, by instance number.
    public func instances(of pair: ContainerCategory) -> [CategoryInstance] { store.instances(of: pair) }

    /// Every pair that holds an instance, by category and container.
    public var pairs: [ContainerCategory] { store.pairs }

    // MARK: publish

    /// Commits a publish request whole, or refuses it whole (MS-PRES 3.2.5.1.2, 3.2.5.4).
    public mutating func publish(
        _ request: CategoryPublishDocument, by endpoint: PublishingEndpoint, at now: DateTime
    ) throws(EnhancedPresenceRefusal) -> PresentityChange {
        try PublishChecks(policy: policy, store: store, presentity: address).check(request, by: endpoint)
        try checkVersions(of: request)
        let time = commitTime(now)
        var change = PresentityChange()
        for publication in request.publications {
            let id = publication.id
            let current = store[id]
            if publication.isRemoval {
                guard current != nil else {
                    change.untouched.insert(id.pair)
                    continue
                }
                store.remove(id)
            } else {
                let isTimeBound = publication.expireType == .time
                store.put(
                    CategoryInstance(
                        id: id, version: CategoryInstance.successor(of: current?.version ?? 0), publishTime: time,
                        expireType: publication.expireType, expires: isTimeBound ? publication.expires : nil,
                        deadline: isTimeBound ? publication.expires.map { time.adding(seconds: Int64($0)) } : nil,
                        endpointID: publication.expireType == .endpoint ? endpoint.endpointID : nil, body: publication.body))
            }
            change.pairs.insert(id.pair)
        }
        aggregate(after: change.pairs, committedAt: time, into: &change)
        change.untouched.subtract(change.pairs)
        return change
    }

    /// Publishes for the server itself: no version to name, no read-only place (MS-PRES 3.2.6.2).
    /// - Returns: An empty change when the data are those already there.
    public mutating func publishByServer(
        _ id: PublicationID, body: XMLFragment?, expireType: ExpireType = .static, at now: DateTime
    ) -> PresentityChange {
        let current = store[id]
        if let current, current.body == body, current.expireType == expireType { return PresentityChange() }
        let time = commitTime(now)
        store.put(
            CategoryInstance(
                id: id, version: CategoryInstance.successor(of: current?.version ?? 0), publishTime: time, expireType: expireType,
                body: body))
        var change = PresentityChange(pairs: [id.pair])
        aggregate(after: change.pairs, committedAt: time, into: &change)
        return change
    }

    private func checkVersions(of request: CategoryPublishDocument) throws(EnhancedPresenceRefusal) {
        var stale: [FaultOperation] = []
        for (index, publication) in request.publications.enumerated() {
            let current = store[publication.id]
            let version = current?.version ?? 0
            guard publication.version != version else { continue }
            stale.append(
                FaultOperation(
                    index: UInt32(clamping: index + 1), version: publication.version, currentVersion: version,
                    currentData: current?.body))
        }
        guard stale.isEmpty else {
            throw EnhancedPresenceRefusal(
                status: 409, diagnostic: .publicationVersion, fault: FaultDocument(operations: stale),
                message: "\(stale.count) publication(s) name a version that is not the stored one (MS-PRES 1.3.1.6)")
        }
    }

    // MARK: lifetimes

    /// An endpoint's registration ended, for whatever reason (MS-PRES 3.2.5.5).
    /// - Parameter isLast: Whether the user has no registration left, which ends `user` instances too.
    public mutating func endpointEnded(_ endpointID: String, isLast: Bool, at now: DateTime) -> PresentityChange {
        let ended = EndpointKey(endpointID)
        return remove(at: now) { instance in
            switch instance.expireType {
            case .endpoint: isLast || instance.endpointID.map { EndpointKey($0) == ended } ?? false
            case .user: isLast
            default: false
            }
        }
    }

    /// Removes the time-bound instances whose time has come (MS-PRES 3.2.6.1).
    public mutating func expire(at now: DateTime) -> PresentityChange {
        guard store.timeBoundCount > 0 else { return PresentityChange() }
        return remove(at: now) { $0.deadline.map { $0 <= now } ?? false }
    }

    /// Removes instances and computes what depended on them (MS-PRES 3.2.5.6).
    private mutating func remove(at now: DateTime, where isEnded: (CategoryInstance) -> Bool) -> PresentityChange {
        var change = PresentityChange(pairs: store.removeAll(where: isEnded))
        if !change.pairs.isEmpty { aggregate(after: change.pairs, committedAt: commitTime(now), into: &change) }
        return change
    }

    // MARK: time and versions

    /// The publishTime of this commit: `now` in whole milliseconds, and later than every commit before (MS-PRES 1.3.1.6.4).
    mutating func commitTime(_ now: DateTime) -> DateTime {
        var time = now.truncatedToMilliseconds
        if let last = lastCommit, time <= last { time = last.adding(milliseconds: 1) }
        lastCommit = time
        return time
    }
}

extension CategoryPublication {
    /// The key of the instance that the publication is about.
    public var id: PublicationID { PublicationID(category: categoryName, container: container, instance: instance) }
}
