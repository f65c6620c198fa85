import PresenceDocuments
import XMLCore

/// The sender of a request about a presentity, taken from its SIP headers.
public struct PublishingEndpoint: Hashable, Sendable {
    /// URI of the From header.
    public var from: String
    /// URI of the To header.
    public var to: String
    /// UUID in `+sip.instance` of Contact, compared ignoring case (MS-PRES 2.2.2.1); nil if absent.
    public var endpointID: String?
    /// Whether the endpoint is registered (MS-PRES 3.2.5.4).
    public var isRegistered: Bool

    /// Creates a sender; by default without a registered endpoint.
    public init(from: String, to: String, endpointID: String? = nil, isRegistered: Bool = false) {
        self.from = from
        self.to = to
        self.endpointID = endpointID
        self.isRegistered = isRegistered
    }
}

/// The changes caused by a request, an expiry or a deregistration; empty if nothing changed.
public struct PresentityChange: Hashable, Sendable {
    /// Pairs with a changed set of instances.
    public var pairs: Set<ContainerCategory>
    /// Pairs named by the request but unchanged: deletions of absent instances (MS-PRES 3.2.5.1.2).
    public var untouched: Set<ContainerCategory>
    /// Containers with a changed membership.
    public var containers: Set<ContainerID>
    /// Whether a subscriber was added, removed or acknowledged.
    public var subscribersChanged: Bool
    /// Whether a delegate was added, changed or removed.
    public var delegatesChanged: Bool

    /// Creates a change; by default an empty one.
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

    /// The categories of ``pairs``; a changed membership may affect every category.
    public var categories: Set<CategoryName> { Set(pairs.map(\.category)) }

    /// Whether no self dialog and no watcher needs a notification.
    public var isEmpty: Bool { pairs.isEmpty && containers.isEmpty && !subscribersChanged && !delegatesChanged }

    /// Merges a later change, so that one notification covers both.
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
/// Pure: every input carries the time, every result is a value. Aggregates that depend on a change (MS-PRES 3.8) are committed with
/// it and are part of the result.
///
/// ```
/// publish -------------> checks -> versions -> commit all, compute, or refuse all --> PresentityChange | EnhancedPresenceRefusal
/// setContainerMembers -> checks -> versions -> commit all, or refuse all --> PresentityChange | EnhancedPresenceRefusal
/// setSubscribers, setDelegates -> checks ---> commit, or refuse ----------> PresentityChange | EnhancedPresenceRefusal
/// endpointEnded, expire --------------------> remove, compute ------------> PresentityChange
/// ```
public struct EnhancedPresentity: Equatable, Sendable {
    /// URI of the user with scheme, as responses write it.
    public let uri: String
    /// Quotas and choices; a change applies to later requests.
    public private(set) var policy: EnhancedPresencePolicy
    var store = CategoryStore()
    var memberships: [ContainerID: ContainerMembership] = [:]
    /// Subscribers that the user has to acknowledge (MS-PRES 3.6.1).
    public internal(set) var subscribers = SubscriberList()
    /// Delegates of the user (MS-PRES 3.9.1).
    public internal(set) var delegates = DelegateSet()
    let address: PresenceAddress
    var lastCommit: DateTime?

    /// Creates a presentity without publications.
    public init(uri: String, policy: EnhancedPresencePolicy = .standard) {
        self.uri = uri
        self.policy = policy
        address = PresenceAddress(uri)
    }

    /// Applies other quotas and choices to later requests.
    public mutating func use(_ policy: EnhancedPresencePolicy) { self.policy = policy }

    /// Replaces the lists that only the user sees; nil keeps one.
    mutating func replaceLists(_ subscribers: SubscriberList?, _ delegates: DelegateSet?) {
        if let subscribers { self.subscribers = subscribers }
        if let delegates { self.delegates = delegates }
    }

    /// Time at which ``expire(at:)`` has work; nil if no instance has a deadline.
    public var nextDeadline: DateTime? { store.nextDeadline }

    /// Number of stored instances.
    public var instanceCount: Int { store.count }

    /// The instance with a key; nil if there is none.
    public subscript(id: PublicationID) -> CategoryInstance? { store[id] }

    /// The instances of a pair by instance number; empty if there are none.
    public func instances(of pair: ContainerCategory) -> [CategoryInstance] { store.instances(of: pair) }

    /// The pairs with instances, by category and container.
    public var pairs: [ContainerCategory] { store.pairs }

    // MARK: Publish

    /// Commits a publish request completely, or refuses it and changes nothing (MS-PRES 3.2.5.1.2, 3.2.5.4).
    /// - Throws: 400, 403, 413 or 488 for an invalid request; 409 with the current versions if a publication has another version.
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

    /// Publishes for the server: without version check and also to read-only pairs (MS-PRES 3.2.6.2).
    /// - Returns: An empty change if body and expireType equal the stored ones.
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

    // MARK: Lifetimes

    /// Removes the instances bound to an endpoint after its registration has ended for any reason (MS-PRES 3.2.5.5).
    /// - Parameter isLast: Whether the user has no registration left; then all `endpoint` and `user` instances are removed.
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

    /// Removes the time-bound instances with a deadline at or before `now` (MS-PRES 3.2.6.1).
    public mutating func expire(at now: DateTime) -> PresentityChange {
        guard store.timeBoundCount > 0 else { return PresentityChange() }
        return remove(at: now) { $0.deadline.map { $0 <= now } ?? false }
    }

    /// Removes instances and recomputes their dependents (MS-PRES 3.2.5.6).
    private mutating func remove(at now: DateTime, where isEnded: (CategoryInstance) -> Bool) -> PresentityChange {
        var change = PresentityChange(pairs: store.removeAll(where: isEnded))
        if !change.pairs.isEmpty { aggregate(after: change.pairs, committedAt: commitTime(now), into: &change) }
        return change
    }

    // MARK: Time and versions

    /// The publishTime of a commit: `now` in whole milliseconds, at least 1 ms after the previous commit (MS-PRES 1.3.1.6.4).
    mutating func commitTime(_ now: DateTime) -> DateTime {
        var time = now.truncatedToMilliseconds
        if let last = lastCommit, time <= last { time = last.adding(milliseconds: 1) }
        lastCommit = time
        return time
    }
}

extension CategoryPublication {
    /// The key of the published instance.
    public var id: PublicationID { PublicationID(category: categoryName, container: container, instance: instance) }
}
