import PresenceDocuments

/// One watcher's view of a presentity: the container and instances of each category (MS-PRES 3.2.5.3).
///
/// Instances are shared with the presentity, so that views take little memory. Watchers with equal ``key`` see the same document,
/// which is then encoded once.
public struct WatcherView: Hashable, Sendable {
    /// One category of the view.
    public struct Category: Hashable, Sendable {
        /// The category.
        public let name: CategoryName
        /// The container, or the reason for its absence.
        public let resolution: ContainerResolution
        /// Every instance of the category in the container, by instance number.
        public let instances: [CategoryInstance]
    }

    /// Identifies a view independent of the watcher: the container of each category.
    public struct Key: Hashable, Sendable {
        let containers: [CategoryName: ContainerID?]
    }

    /// URI of the presentity, with scheme.
    public let uri: String
    /// The watched categories in the order of the subscription, without private ones (MS-PRES 3.4.5.1.3).
    public let categories: [Category]

    /// The key of the view; of repeated categories the first counts.
    public var key: Key {
        Key(containers: Dictionary(categories.map { ($0.name, $0.resolution.container) }, uniquingKeysWith: { first, _ in first }))
    }

    /// The complete document: each watched category at least once, as an empty marker if it has no instances (MS-PRES 4.5).
    public var document: CategoriesDocument { document(of: nil) }

    /// The document of the named categories, each with all instances (MS-PRES 3.2.5.3); nil: all categories.
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

    /// The categories that a notification must contain: those with a changed container or changed instances (MS-PRES 3.2.5.3).
    ///
    /// A category absent from `previous` counts as changed. No notification is due if the result is empty.
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
    /// A watcher's view of these categories; private and repeated names are left out without an error (MS-PRES 3.4.5.1.3).
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

    /// The source of PIDF and MSRTC notifications for a watcher: the latest legacyInterop instance in the resolved container (MS-PRES
    /// 3.7.5.1).
    /// - Returns: Nil if the watcher is blocked or nothing is published, which is shown as offline.
    public func legacyInterop(for watcher: WatcherIdentity) -> CategoryInstance? {
        guard let container = resolveLegacyInterop(for: watcher).container else { return nil }
        return store.instances(of: ContainerCategory(category: .legacyInterop, container: container)).max {
            $0.publishTime < $1.publishTime
        }
    }
    /// Resolves the container of legacyInterop for a watcher of PIDF or MSRTC documents (MS-PRES 3.7.5.1).
    public func resolveLegacyInterop(for watcher: WatcherIdentity) -> ContainerResolution {
        var open = resolver
        open.policy.privateCategories.remove(.legacyInterop)
        return open.resolve(.legacyInterop, heldBy: candidates(for: .legacyInterop), for: watcher)
    }
}
