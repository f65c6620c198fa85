import PresenceDocuments

/// What one watcher sees of a presentity: per category the container and its instances (MS-PRES 3.2.5.3).
///
/// Holds the instances by reference to those of the presentity, so that a view per watcher costs little. Two watchers with equal
/// ``key`` see the same document, which is then written once.
public struct WatcherView: Hashable, Sendable {
    /// One category of the view.
    public struct Category: Hashable, Sendable {
        public let name: CategoryName
        public let resolution: ContainerResolution
        /// Every instance of the category in the container, by instance number.
        public let instances: [CategoryInstance]
    }

    /// Identifies what is seen, whoever sees it: the container of each category.
    public struct Key: Hashable, Sendable {
        let containers: [CategoryName: ContainerID?]
    }

    /// The presentity, with its scheme.
    public let uri: String
    /// The watched categories in the order of the subscription, private ones left out (MS-PRES 3.4.5.1.3).
    public let categories: [Category]

    public var key: Key {
        Key(containers: Dictionary(categories.map { ($0.name, $0.resolution.container) }, uniquingKeysWith: { first, _ in first }))
    }

    /// Everything that is seen: each watched category at least once, with an empty marker where nothing is (MS-PRES 4.5).
    public var document: CategoriesDocument { document(of: nil) }

    /// The named categories only, each with all its instances (MS-PRES 3.2.5.3).
    public func document(of names: Set<CategoryName>?) -> CategoriesDocument {
        var elements: [CategoryElement] = []
        for category in categories where names?.contains(category.name) ?? true {
            if category.instances.isEmpty {
                elements.append(CategoryElement(name: category.name))
            } else {
                elements += category.instances.map(\.watcherElement)
            }
        }
        return CategoriesDocument(uri: uri, categories: elements)
    }

    /// The categories that a notification must carry: those whose container or whose instances changed (MS-PRES 3.2.5.3).
    ///
    /// A category that `previous` did not have counts as changed. Empty means that no notification is due.
    public func changes(since previous: WatcherView) -> Set<CategoryName> {
        var before: [CategoryName: Category] = [:]
        for category in previous.categories { before[category.name] = category }
        var changed = Set<CategoryName>()
        for category in categories {
            guard let old = before[category.name], old.resolution.container == category.resolution.container,
                old.instances == category.instances
            else {
                changed.insert(category.name)
                continue
            }
        }
        return changed
    }
}

extension EnhancedPresentity {
    /// What a watcher of these categories sees now; private and repeated names are left out without a fault (MS-PRES 3.4.5.1.3).
    public func view(of categories: [CategoryName], for watcher: WatcherIdentity) -> WatcherView {
        let resolver = resolver
        var seen = Set<CategoryName>()
        return WatcherView(
            uri: uri,
            categories: categories.compactMap { name in
                guard !policy.privateCategories.contains(name), seen.insert(name).inserted else { return nil }
                let resolution = resolver.resolve(name, heldBy: candidates(for: name), for: watcher)
                let instances = resolution.container.map {
                    store.instances(of: ContainerCategory(category: name, container: $0))
                }
                return WatcherView.Category(name: name, resolution: resolution, instances: instances ?? [])
            })
    }

    /// What makes PIDF and MSRTC notifications for a watcher: legacyInterop, resolved like any category (MS-PRES 3.7.5.1).
    /// - Returns: Nil when the watcher is blocked or nothing is published, which is shown as offline.
    public func legacyInterop(for watcher: WatcherIdentity) -> CategoryInstance? {
        guard let container = resolveLegacyInterop(for: watcher).container else { return nil }
        return store.instances(of: ContainerCategory(category: .legacyInterop, container: container)).max {
            $0.publishTime < $1.publishTime
        }
    }
    /// The container whose legacyInterop a watcher of PIDF or MSRTC documents sees, and why (MS-PRES 3.7.5.1).
    public func resolveLegacyInterop(for watcher: WatcherIdentity) -> ContainerResolution {
        var open = resolver
        open.policy.privateCategories.remove(.legacyInterop)
        return open.resolve(.legacyInterop, heldBy: candidates(for: .legacyInterop), for: watcher)
    }
}
