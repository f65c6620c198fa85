import PresenceDocuments

extension EnhancedPresentity {
    /// The complete requested data for the user's own endpoints (MS-PRES 3.3.5.1, 4.4.2).
    public func roamingData(scope: Set<RoamingScope>, at now: DateTime) -> RoamingDataDocument {
        RoamingDataDocument(
            categories: scope.contains(.categories) ? categoriesDocument(of: store.pairs, at: now) : nil,
            containers: scope.contains(.containers) ? containersDocument(of: containerIDs) : nil,
            subscribers: scope.contains(.subscribers) ? subscribers.document : nil,
            delegates: scope.contains(.delegates) ? delegates.document : nil)
    }

    /// All data of the presentity, subscribers in their stored form. `expires` is the lifetime left at `now`; ``storedDocument`` has
    /// it relative to publishTime, as ``init(uri:categories:containers:subscribers:delegates:policy:)`` expects.
    public func storedData(at now: DateTime) -> RoamingDataDocument {
        var data = roamingData(scope: [.categories, .containers, .delegates], at: now)
        data.subscribers = subscribers.storedDocument
        return data
    }

    /// The notification for every self dialog: all instances of each changed category, each changed membership, and the complete
    /// subscribers or delegates if they changed (MS-PRES 3.2.5.2, 3.5.5.3, 3.6.5.2, 3.9.5.3).
    ///
    /// MS-PRES 3.2.5.2 requires only the changed pairs. All containers of a changed category are included, because a client that
    /// replaces its categories by the notification would otherwise lose the versions of the other containers.
    /// - Parameter scope: The parts that the self dialog requested; unchanged and unrequested parts are absent.
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

    /// The response to a publish request, including pairs from which nothing had to be deleted (MS-PRES 3.2.5.1.2).
    public func publishAnswer(after change: PresentityChange, at now: DateTime) -> RoamingDataDocument {
        RoamingDataDocument(categories: categoriesDocument(of: change.pairs.union(change.untouched).sorted(), at: now))
    }

    /// These pairs, also if they are empty now, and all other pairs of the same categories.
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
    /// Creates a presentity from its self documents: for offline tools and for restoring stored data.
    ///
    /// Categories without container or instance get container 0 and instance 0; empty markers are skipped. `expires` counts from
    /// publishTime.
    public init(
        uri: String, categories: CategoriesDocument?, containers: ContainersDocument?, subscribers: SubscribersDocument? = nil,
        delegates: DelegatesDocument? = nil, policy: EnhancedPresencePolicy = .standard
    ) {
        self.init(uri: uri, policy: policy)
        replaceLists(subscribers.map { SubscriberList($0) }, delegates.map { DelegateSet($0) })
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
