import PresenceDocuments

extension EnhancedPresentity {
    /// Everything that the user's own endpoints see of what they asked for (MS-PRES 3.3.5.1, 4.4.2).
    public func roamingData(scope: Set<RoamingScope>, at now: DateTime) -> RoamingDataDocument {
        RoamingDataDocument(
            categories: scope.contains(.categories) ? categoriesDocument(of: store.pairs, at: now) : nil,
            containers: scope.contains(.containers) ? containersDocument(of: containerIDs) : nil,
            subscribers: scope.contains(.subscribers) ? subscribers.document : nil,
            delegates: scope.contains(.delegates) ? delegates.document : nil)
    }

    /// Everything that a store must keep to make the presentity again with ``init(uri:categories:containers:subscribers:delegates:policy:)``.
    public func storedData(at now: DateTime) -> RoamingDataDocument {
        var data = roamingData(scope: [.categories, .containers, .delegates], at: now)
        data.subscribers = subscribers.storedDocument
        return data
    }

    /// The body of the notification of every self dialog: the complete instance set of each category that changed, each changed
    /// membership, and the whole list of subscribers or delegates when one of them changed (MS-PRES 3.2.5.2, 3.5.5.3, 3.6.5.2,
    /// 3.9.5.3).
    ///
    /// The pairs that changed would do (MS-PRES 3.2.5.2), but a client that takes a notification for all there is of its categories
    /// would forget what it has published to other containers, and never find the versions again.
    /// - Parameter scope: What the self dialog asked for; a part that did not change, or was not asked for, is absent.
    public func roamingData(
        after change: PresentityChange, scope: Set<RoamingScope> = [.categories, .containers], at now: DateTime
    ) -> RoamingDataDocument {
        RoamingDataDocument(
            categories: scope.contains(.categories) && !change.pairs.isEmpty
                ? categoriesDocument(of: pairs(sharingCategoryWith: change.pairs), at: now) : nil,
            containers: scope.contains(.containers) && !change.containers.isEmpty
                ? containersDocument(of: change.containers.sorted(by: >)) : nil,
            subscribers: scope.contains(.subscribers) && change.subscribersChanged ? subscribers.document : nil,
            delegates: scope.contains(.delegates) && change.delegatesChanged ? delegates.document : nil)
    }

    /// The answer to a publish request; also names the pairs from which nothing had to be deleted (MS-PRES 3.2.5.1.2).
    public func publishAnswer(after change: PresentityChange, at now: DateTime) -> RoamingDataDocument {
        RoamingDataDocument(categories: categoriesDocument(of: change.pairs.union(change.untouched).sorted(), at: now))
    }

    /// These pairs, emptied ones included, and every other container's of the same categories.
    private func pairs(sharingCategoryWith changed: Set<ContainerCategory>) -> [ContainerCategory] {
        let categories = Set(changed.map(\.category))
        return changed.union(store.pairs.lazy.filter { categories.contains($0.category) }).sorted()
    }

    private func categoriesDocument(of pairs: [ContainerCategory], at now: DateTime) -> CategoriesDocument {
        var elements: [CategoryElement] = []
        for pair in pairs {
            let instances = store.instances(of: pair)
            if instances.isEmpty {
                elements.append(CategoryElement(name: pair.category, container: pair.container))
            } else {
                elements += instances.map { $0.selfElement(at: now) }
            }
        }
        return CategoriesDocument(uri: uri, categories: elements)
    }

    private func containersDocument(of ids: [ContainerID]) -> ContainersDocument {
        ContainersDocument(
            containers: ids.map { id in
                guard id != .default else {
                    return ContainerElement(id: id, version: 0, members: [ContainerMember(.everyone)])
                }
                let membership = membership(of: id)
                return ContainerElement(id: id, version: membership.version, members: membership.members)
            })
    }
}

extension EnhancedPresentity {
    /// A presentity as its own self documents describe it: for offline tools and for restoring what was stored.
    ///
    /// Categories without container or instance are taken as container 0 and instance 0; empty markers are skipped.
    public init(
        uri: String, categories: CategoriesDocument?, containers: ContainersDocument?, subscribers: SubscribersDocument? = nil,
        delegates: DelegatesDocument? = nil, policy: EnhancedPresencePolicy = .standard
    ) {
        self.init(uri: uri, policy: policy)
        if let subscribers { self.subscribers = SubscriberList(subscribers) }
        if let delegates { self.delegates = DelegateSet(delegates) }
        for container in containers?.containers ?? [] where container.id != .default {
            memberships[container.id] = ContainerMembership(version: container.version, members: container.members)
        }
        for element in categories?.categories ?? [] where !element.isEmptyMarker {
            let id = PublicationID(category: element.name, container: element.container ?? .default, instance: element.instance ?? 0)
            let time = element.publishTime ?? DateTime(nanosecondsSince1970: 0)
            lastCommit = lastCommit.map { max($0, time) } ?? time
            let isTimeBound = element.expireType == .time
            store.put(
                CategoryInstance(
                    id: id, version: element.version ?? 1, publishTime: time, expireType: element.expireType ?? .static,
                    expires: isTimeBound ? element.expires.map { UInt32(clamping: $0) } : nil,
                    deadline: isTimeBound ? element.expires.map { time.adding(seconds: $0) } : nil,
                    endpointID: element.endpointID, body: element.body?.fragment))
        }
        recogniseComputedInstances()
    }
}
